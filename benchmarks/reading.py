"""Processor time to read hostile pages of so many tags: what may be read in the event loop.

    python benchmarks/reading.py [--tags 3000]

The parser takes time that grows with the square of the number of tags, for pages that are nested
deeply or closed wrongly. `honeyguide.web.parser_pool.SMALL_TAGS` is the number up to which no page
of this list takes 50 ms.
"""

import argparse
import itertools
import time

from honeyguide.web.html import read
from honeyguide.web.parser_pool import SMALL_BODY, SMALL_TAGS

OPENED = (
    "<div>|<span>|<option>x|<ul><li>x|<nav><footer>|<article>|<a href=/x><div>|<table><tr><td>"
    "|<b>x<p>|<font>x<p>|<svg>|<math><mi>|<button>|<dd><dt>|<template>|<blockquote>|<object>"
    "|<a href=/x>|<p>|<frame src=/x>|<img alt=x>"
).split("|")
CLOSED = "|</x>|</p>|</a>|</b>|</select>|</li>|</body>|</svg>|</applet>".split("|")
INSIDE = "|<select>|<table>|<svg>".split("|")

SLOW = 0.025  # seconds


def main() -> None:
    """Print the slowest pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tags", type=int, default=SMALL_TAGS)
    tags = parser.parse_args().tags
    found = [
        (milliseconds(pattern, tags), *pattern)
        for pattern in itertools.product(INSIDE, OPENED, CLOSED)
    ]
    for took, *pattern in sorted(found, reverse=True)[:10]:
        print(f"{took:6.1f} ms  {' '.join(pattern)}")


def milliseconds(pattern: tuple[str, str, str], tags: int) -> float:
    """What the slower of two orders of tags takes; slow ones are given three tries."""
    inside, opened, closed = pattern
    times = tags // (opened + closed).count("<")
    orders = ((opened + closed) * times, opened * times + closed * times)
    return max(_seconds(inside + order) for order in orders) * 1000


def _seconds(html: str) -> float:
    took = _once(html)
    return took if took < SLOW else min(took, _once(html), _once(html))


def _once(html: str) -> float:
    body = html.encode()[:SMALL_BODY]
    begin = time.thread_time()
    read(body, "http://site.example/")
    return time.thread_time() - begin


if __name__ == "__main__":
    main()
