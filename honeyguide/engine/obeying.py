"""Carry out the orders that change which links wait, without I/O or clock: replays repeat them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from honeyguide.contracts import Candidates, Ids, Link
from honeyguide.engine.orders import Allow, AnyOrder, Deny, Forget, Seed
from honeyguide.urls.patterns import TITLE, Patterns

if TYPE_CHECKING:
    from honeyguide.engine.memory import Memory
    from honeyguide.engine.navigator import Navigator

MOST_WITHDRAWN = 10_000  # denied links that are kept, to return when they are allowed again


def obey(navigator: "Navigator", order: AnyOrder) -> int:
    """Carry out an order; return how many links began or ceased to wait.

    Orders that change no decision of a navigator, such as a delay, do nothing here. A
    HoneyguideError says why an order cannot be carried out; then nothing has changed.
    """
    if isinstance(order, Deny):
        return _deny(navigator, order.patterns)
    if isinstance(order, Allow):
        return _allow(navigator, order.patterns)
    if isinstance(order, Forget):
        return len(navigator.withdraw(_unvisited(navigator, [order.host])))
    return _seed(navigator, order.urls) if isinstance(order, Seed) else 0


def _deny(navigator: "Navigator", patterns: Sequence[str]) -> int:
    """Refuse what the patterns match from now on; keep the best of its waiting links aside."""
    navigator.relist(navigator.lists.denying(patterns))
    gone = navigator.withdraw(_unvisited(navigator, patterns))
    room = max(MOST_WITHDRAWN - len(navigator.withdrawn), 0)
    kept = gone[:room]
    hosts = navigator.memory.host(kept.ids).tolist()
    for id, host, x in zip(kept.ids.tolist(), hosts, kept.x, strict=True):
        navigator.withdrawn.add(id, host, x)
    return len(gone)


def _allow(navigator: "Navigator", patterns: Sequence[str]) -> int:
    """Refuse it no longer; what was kept aside and may be fetched again waits again."""
    navigator.relist(navigator.lists.allowing(patterns))
    refusal, memory = navigator.lists.refusal(), navigator.memory
    known = np.arange(len(memory), dtype=np.int32)
    aside = known[navigator.withdrawn.holds(known)]
    free = [id for id in aside.tolist() if not refusal(memory.urls.url(id))]
    links = navigator.withdrawn.take(np.array(free, np.int32))
    return 0 if links is None else _put(navigator, links)


def _put(navigator: "Navigator", links: Candidates) -> int:
    wanted = navigator.frontier.wants(links.ids) & ~navigator.memory.visited(links.ids)
    navigator.put(links[wanted])
    return int(np.count_nonzero(wanted))


def _seed(navigator: "Navigator", urls: Sequence[str]) -> int:
    """Let pages that were not visited come first; return how many."""
    memory = navigator.memory
    links = [Link(url) for url in dict.fromkeys(urls)]
    ids = memory.urls.find([link.url for link in links]).tolist()
    new = [link for link, id in zip(links, ids, strict=True) if id < 0 or not memory.is_visited(id)]
    free = [link for link in new if link.url not in navigator.leases]
    navigator.add_seeds(free)
    return len(free)


def _unvisited(navigator: "Navigator", patterns: Sequence[str]) -> Ids:
    """The pages that were not visited and that the patterns match."""
    memory = navigator.memory
    ids = np.arange(len(memory), dtype=np.int32)
    ids = ids[~memory.visited(ids)]
    of_urls = [pattern for pattern in patterns if not pattern.startswith(TITLE)]
    matches = Patterns(of_urls, navigator.lists.host_globs).match
    if all("/" not in pattern and "*" not in pattern for pattern in of_urls):
        return _of_hosts(memory, ids, matches)
    return np.array([id for id in ids.tolist() if matches(memory.urls.url(id))], np.int32)


def _of_hosts(memory: "Memory", ids: Ids, matches: Callable[[str], bool]) -> Ids:
    """Those of the pages whose host matches: hosts are far fewer than pages."""
    hosts = memory.host(ids)
    known = np.unique(hosts)
    chosen = [host for host in known.tolist() if matches(f"http://{memory.urls.host_name(host)}/")]
    return ids[np.isin(hosts, chosen)]
