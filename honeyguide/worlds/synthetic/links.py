"""A generated web's links alone, recorded: many times as quick to walk as one that is written."""

from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from honeyguide.graphwriter import write_arrays
from honeyguide.worlds.synthetic.layout import SPECIALIST_HOST, Layout
from honeyguide.worlds.synthetic.names import Names
from honeyguide.worlds.synthetic.truth import arrives
from honeyguide.worlds.synthetic.wiring import Wiring


def record_links(
    pages: int, seed: int, out: Path, progress: Callable[[int, int], None] | None = None
) -> None:
    """Write the URLs and links of a generated web; a page that only fails has no links."""
    layout = Layout(pages, seed)
    names, wiring = Names(layout, seed), Wiring(layout, seed)
    offsets, targets = array("q", [0]), array("i")

    def urls() -> Iterator[str]:
        for page in range(pages):
            spot = layout.spot(page)
            seen = arrives(layout, spot)
            if seen is not None:
                targets.extend(dict.fromkeys(wiring.targets(seen)))
            offsets.append(len(targets))
            if progress is not None:
                progress(page + 1, pages)
            yield names.url(spot)

    known = list(urls())
    write_arrays(out, known, np.asarray(offsets), np.asarray(targets))


def specialist_hosts(pages: int, seed: int, topic: str) -> list[str]:
    """The names of all hosts that are about one topic, the largest first."""
    layout = Layout(pages, seed)
    names = Names(layout, seed)
    number = names.vocabulary.topics.index(topic)
    hosts = map(layout.host, range(layout.hosts))
    found = [h for h in hosts if h.kind == SPECIALIST_HOST and h.topic == number]
    return [names.host_name(host.number) for host in found]
