"""No guard."""

from honeyguide.registry import part


@part("guard", "none")
def none() -> None:
    """Lets everything through: for webs without traps."""
