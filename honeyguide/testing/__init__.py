"""Checks that anyone can run on a part of their own. Tests of honeyguide itself are in tests/."""

from honeyguide.testing.resume import ResumeError, check_resume
from honeyguide.testing.webs import GrowingWeb

__all__ = ["GrowingWeb", "ResumeError", "check_resume"]
