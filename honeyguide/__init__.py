"""A focused web crawler that learns, while it crawls, which links are worth following."""

from typing import TYPE_CHECKING, Any

from honeyguide.version import VERSION

if TYPE_CHECKING:
    from honeyguide.plan import Plan as Plan
    from honeyguide.registry import make as make
    from honeyguide.registry import part as part
    from honeyguide.registry import parts as parts

__version__ = VERSION
__all__ = ["Plan", "__version__", "make", "part", "parts"]
_HOMES = {"Plan": "plan", "make": "registry", "part": "registry", "parts": "registry"}


def __getattr__(name: str) -> Any:
    """Import the public names when they are first asked for."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'honeyguide' has no attribute {name!r}")
    return getattr(import_module(f"honeyguide.{_HOMES[name]}"), name)
