"""Parts by name, and parts from outside by their place. What a part does is not here."""

from honeyguide.registry.names import (
    accepts,
    broken,
    find,
    lasting_spec,
    make,
    missing,
    parts,
    place_of,
    split,
)
from honeyguide.registry.outside import (
    Outside,
    allowed_outside,
    explaining_outside,
    folder_of,
    known_names,
    noting_outside,
    only_outside,
    refuse_crawls_at_import,
    unannounced,
)
from honeyguide.registry.registration import FAMILIES, Part, Spec, part

__all__ = [
    "FAMILIES",
    "Outside",
    "Part",
    "Spec",
    "accepts",
    "allowed_outside",
    "broken",
    "explaining_outside",
    "find",
    "folder_of",
    "known_names",
    "lasting_spec",
    "make",
    "missing",
    "noting_outside",
    "only_outside",
    "part",
    "parts",
    "place_of",
    "refuse_crawls_at_import",
    "split",
    "unannounced",
]
