"""Checks that anyone can run on a part of their own; the project's tests run the very same."""

from honeyguide.testing.resume import ResumeError, check_resume
from honeyguide.testing.webs import GrowingWeb

__all__ = ["GrowingWeb", "ResumeError", "check_resume"]
