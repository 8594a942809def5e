"""Errors that users see: each is one clear sentence."""

import difflib
from collections.abc import Iterable, Mapping


class HoneyguideError(Exception):
    """Bad input or a bad setting, said in one sentence that helps."""


def unknown(kind: str, name: str, known: Iterable[str]) -> HoneyguideError:
    """Say that a name is unknown, and which known one is nearest."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if near:
        return HoneyguideError(f"no {kind} named {name!r}; did you mean {near[0]!r}?")
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return HoneyguideError(f"no {kind} named {name!r}; known: {shown or 'none'}")


# what the shorter names of failures mean, and what can be done
MEANINGS = {
    "private address": "inside this network: --allow-private allows it",
    "port": "not one for web pages",
    "dns": "no such host",
    "robots": "robots.txt forbids it",
    "robots unreachable": "without its robots.txt nothing is allowed",
    "tls": "no trusted certificate, or no common version of TLS",
    "plain http": "the server answered without TLS: try http:// instead of https://",
    "content type": "no page to read",
    "no sitemap": "no pages of its host are named there",
    "proxy": "the proxy did not open a connection to the host",
    "proxy login": "the proxy wants a name and a password: --proxy http://NAME:PASSWORD@HOST:PORT",
    "proxy unreachable": "there is no proxy at that address",
}


def explained(failure: str) -> str:
    """A failed fetch by its name, and what that means where it is not plain."""
    return ", ".join(filter(None, [failure, MEANINGS.get(failure)]))


def nothing_fetched(failures: Mapping[str, int]) -> str:
    """Why there is not one page, by how often each failure was met."""
    reasons = "; ".join(f"{explained(what)} ({count})" for what, count in failures.items())
    return f"nothing could be fetched: {reasons}"
