"""Small webs written by hand, for tests."""

from honeyguide.testing.tiny_webs import TinyWeb, url

__all__ = ["TinyWeb", "url"]
