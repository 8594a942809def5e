"""Contract checks to run on parts of your own. Tests of honeyguide itself are in tests/."""

from honeyguide.testing.resume import ResumeError, check_resume
from honeyguide.testing.webs import GrowingWeb

__all__ = ["GrowingWeb", "ResumeError", "check_resume"]
