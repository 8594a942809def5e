"""What every check needs: how a part is made, and how a broken promise is told."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from honeyguide import registry
from honeyguide.contracts import Encoder, Features, State, dtype_of

PartLike = str | Callable[..., Any]  # "guide", "./mine.py:MyAgent", a class, or what makes a part
TOPIC = "geology"
ODD_URLS = (
    "http://a.example",
    "http://[::1]:80/x",
    "http://ä.example/%ff?%&=",
    "http://1.2.3.4//",
    "https://xn--a.example/" + "deep/" * 60 + "?q=" + "x" * 300,
)
MENDING = "use numbers, texts, bytes, lists, dicts and arrays of numbers"


class ContractError(AssertionError):
    """A part breaks a promise of its contract; the message says which, and what to mend."""


def require(holds: object, said: str) -> None:
    """Raise a ContractError with these words unless something holds."""
    if not holds:
        raise ContractError(said)


@contextmanager
def promised(promise: str) -> Iterator[None]:
    """Turn an exception of a part into a ContractError that names the promise."""
    try:
        yield
    except ContractError:
        raise
    except Exception as error:
        raise ContractError(f"{promise}: {type(error).__name__}: {error}") from error


def make_part(kind: str, part: PartLike, members: Sequence[str], **offers: Any) -> Any:
    """Make a part as a crawl does: each of `offers` goes where an argument has that name."""
    made = registry.make(kind, part, **offers) if isinstance(part, str) else _call(part, offers)
    lacking = [name for name in members if not hasattr(made, name)]
    them = "them" if len(lacking) > 1 else "it"
    require(
        not lacking,
        f"{name_of(part)} has no {' and no '.join(lacking)}: the contract of {_article(kind)}"
        f" asks for {them} (see honeyguide/contracts.py)",
    )
    return made


def name_of(part: PartLike) -> str:
    """What to call a part in a message."""
    return part if isinstance(part, str) else getattr(part, "__name__", repr(part))


@cache
def default_encoder() -> Encoder:
    """The encoder of a crawl that names none."""
    made: Encoder = registry.make("encoder", "wordllama")
    return made


def unwritable(value: Any, where: str = "state") -> str:
    """What of a state a file cannot hold, and its place; empty when it can hold everything."""
    if isinstance(value, dict):
        inside = ((item, f"{where}[{key!r}]") for key, item in value.items())
    elif isinstance(value, list | tuple):
        inside = ((item, f"{where}[{place}]") for place, item in enumerate(value))
    else:
        return "" if _is_plain(value) else f"{where} is {_a(value)}"
    return next(filter(None, (unwritable(*each) for each in inside)), "")


def check_written(state: State, method: str = "state()") -> None:
    """Raise a ContractError unless a state can be written to a file."""
    require(isinstance(state, dict), f"{method} returned {_a(state)}: return a dict")
    found = unwritable(state)
    require(not found, f"{method} cannot be written: {found}; {MENDING}")


def check_same(
    first: Sequence[str], again: Sequence[str], promise: str, mend: str, offset: int = 0
) -> None:
    """Raise a ContractError unless two crawls visited the same pages."""
    if list(first) == list(again):
        return
    length = min(len(first), len(again))
    place = next((n for n in range(length) if first[n] != again[n]), length)
    one, other = (urls[place] if place < len(urls) else "nothing" for urls in (first, again))
    raise ContractError(
        f"{promise}: visit {offset + place + 1} was {one} at first, then {other}. {mend}"
    )


def check_rows(rows: Any, count: int, width: int, who: str, dtype: Any = np.float32) -> None:
    """Raise a ContractError unless these are so many rows of finite numbers of a type."""
    shape = np.shape(rows)
    require(
        shape == (count, width),
        f"{who} returned shape {shape} for {count} of them:"
        f" return one row of {width} numbers for each, shape ({count}, {width})",
    )
    require_dtype(rows, who, dtype)
    require(
        np.all(np.isfinite(rows)),
        f"{who} returned a number that is infinite or not a number (NaN): return finite numbers",
    )


def check_features_rows(rows: Any, count: int, features: Features) -> None:
    """Raise a ContractError unless these are so many rows as features promise them."""
    check_rows(rows, count, features.width, "features", dtype_of(features))


def require_dtype(array: Any, who: str, wanted: Any = np.float32) -> None:
    """Raise a ContractError unless an array has numbers of a type."""
    dtype, name = getattr(array, "dtype", type(array).__name__), np.dtype(wanted).name
    require(
        dtype == wanted,
        f"{who} returned {dtype}: return {name} numbers, as with .astype(np.{name})",
    )


def require_bool(answer: Any, who: str) -> None:
    """Raise a ContractError unless an answer is yes or no."""
    require(
        isinstance(answer, bool | np.bool_), f"{who} returned {_a(answer)}: return True or False"
    )


def require_mask(mask: Any, count: int, who: str) -> None:
    """Raise a ContractError unless this is one yes or no each."""
    require(
        np.shape(mask) == (count,) and getattr(mask, "dtype", None) == np.bool_,
        f"{who} returned {_a(mask)} of shape {np.shape(mask)} for {count} links:"
        f" return a bool array of shape ({count},)",
    )


def _call(part: Callable[..., Any], offers: dict[str, Any]) -> Any:
    signature = inspect.signature(part)
    arguments = {key: value for key, value in offers.items() if key in signature.parameters}
    try:
        signature.bind(**arguments)
    except TypeError as error:
        filled = ", ".join(offers) or "no argument"
        raise ContractError(
            f"{name_of(part)} cannot be made: {error}. A crawl fills in {filled} by name: give"
            " other arguments a default, and pass a class or a function, not a part that is made"
        ) from None
    with promised(f"{name_of(part)} cannot be made"):
        return part(**arguments)


def _is_plain(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return value is None or isinstance(value, int | float | str | bytes | np.number | np.bool_)


def _a(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    return "None" if value is None else _article(type(value).__name__)


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
