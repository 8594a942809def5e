"""Measure a web: degrees, topical locality, informative links, near-duplicates and hosts."""

import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Page

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

DISTANCES = 5  # greatest distance from a relevant page, in links
TOPIC_WORDS = 40  # most words that distinguish a topic's pages from others
SHINGLE = 8  # words
SKETCH = 16  # shingles per sketch
SAME = 12  # least shared shingles of near-duplicates
USELESS = frozenset(
    "click here|here|more|read more|more info|details|link|this|this page|page|next|previous|prev|"
    "back|go|home|top|up|continue|see|see also|full story|learn more|view|download|image".split("|")
)
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Web:
    """A web in memory: its pages, and their links as arrays."""

    pages: Sequence[Page]
    source: Ints  # by link
    target: Ints  # by link; -1 if outside this web
    anchors: Sequence[str]  # by link
    urls: Sequence[str]  # by link
    offsets: Ints  # distinct inner links of page p: targets[offsets[p]:offsets[p + 1]]
    targets: Ints


def words(text: str) -> list[str]:
    """Return the words of a text, an anchor or a URL, in lower case."""
    return _WORD.findall(text.lower())


def link_arrays(pages: Iterable[Page]) -> Web:
    """Return a web with its links as arrays of page numbers."""
    kept = list(pages)
    number = {page.url: i for i, page in enumerate(kept)}
    found = [(i, link) for i, page in enumerate(kept) for link in page.links]
    source = np.array([i for i, _ in found], dtype=np.int64)
    target = np.array([number.get(link.url, -1) for _, link in found], dtype=np.int64)
    inner = (target >= 0) & (target != source)
    pairs = np.unique(source[inner] * len(kept) + target[inner])
    counts = np.bincount(pairs // max(len(kept), 1), minlength=len(kept))
    offsets = np.concatenate(([0], np.cumsum(counts)))
    anchors = [link.anchor for _, link in found]
    urls = [link.url for _, link in found]
    return Web(kept, source, target, anchors, urls, offsets, pairs % max(len(kept), 1))


def web_statistics(
    pages: Iterable[Page],
    labels: Collection[str],
    generator: np.random.Generator,
    probes: int = 100,
) -> dict[str, Any]:
    """Return all measures; those of relevance are means over `labels`, each taken as a topic."""
    web = link_arrays(pages)
    vocabulary = [Counter(words(page.text)) for page in web.pages]
    topics = [_topic(web, vocabulary, label, generator, probes) for label in labels]
    return {
        "pages": len(web.pages),
        "links": len(web.source),
        "links_per_page": len(web.source) / max(len(web.pages), 1),
        "links_outside": _share(web.target < 0),
        "words_per_page": _spread([sum(counts.values()) for counts in vocabulary]),
        "out_degree": degree(np.diff(web.offsets)),
        "in_degree": degree(np.bincount(web.targets, minlength=len(web.pages))),
        "anchor_empty": _share([not words(anchor) for anchor in web.anchors]),
        "anchor_useless": _share([useless(anchor) for anchor in web.anchors]),
        "near_duplicates": near_duplicates([page.text for page in web.pages]),
        "hosts": hosts([page.url for page in web.pages]),
        "topics": {key: np.mean([t[key] for t in topics], axis=0).tolist() for key in topics[0]},
    }


def _topic(
    web: Web,
    vocabulary: Sequence[Counter[str]],
    label: str,
    generator: np.random.Generator,
    probes: int,
) -> dict[str, Any]:
    relevant = np.array([label in page.labels for page in web.pages])
    near = ring_locality(web, relevant, generator, probes)
    wanted = topic_words(vocabulary, relevant)
    inner = np.flatnonzero(web.target >= 0).tolist()
    truth = relevant[web.target[inner]]
    return {
        "base_rate": relevant.mean(),
        "relevant_at_distance": near,
        "lift_at_distance": near / relevant.mean(),
        "relevant_after_steps": walk_locality(web, relevant),
        "auc_text": auc(np.array([_hits(counts, wanted) for counts in vocabulary]), relevant),
        "auc_anchor": auc(_text_scores([web.anchors[i] for i in inner], wanted), truth),
        "auc_url": auc(_text_scores([web.urls[i] for i in inner], wanted), truth),
        "auc_source": auc(relevant[web.source[inner]].astype(float), truth),
    }


def degree(counts: Ints) -> dict[str, float]:
    """Return mean, quantiles and the exponent of the power-law tail of degrees."""
    return _spread(counts) | {"tail_exponent": tail_exponent(counts)}


def tail_exponent(counts: Ints, share: float = 0.1) -> float:
    """Return Hill's estimate of a in P(x) ~ x^-a over the largest values; 0 if there are few."""
    if len(counts) < 10:
        return 0.0
    floor = max(float(np.quantile(counts, 1 - share)), 1.0)
    tail = counts[counts >= floor]
    # minus one half: the correction for integers of Clauset, Shalizi and Newman (2009)
    return float(1 + len(tail) / np.log(tail / (floor - 0.5)).sum())


def ring_locality(
    web: Web, relevant: Flags, generator: np.random.Generator, probes: int = 100
) -> Floats:
    """Return P(relevant) at exactly 1, 2, ... links from a relevant page, mean over probes."""
    starts = np.flatnonzero(relevant)
    chosen = generator.choice(starts, min(probes, len(starts)), replace=False)
    rings = np.array([_rings(web, relevant, int(start)) for start in chosen])
    seen = np.maximum((~np.isnan(rings)).sum(axis=0), 1)
    return np.asarray(np.nansum(rings, axis=0) / seen)


def _rings(web: Web, relevant: Flags, start: int) -> Floats:
    shares = np.full(DISTANCES, np.nan)
    seen = np.zeros(len(web.pages), dtype=bool)
    ring = np.array([start])
    seen[ring] = True
    for distance in range(DISTANCES):
        reached = web.targets[spans(web.offsets, ring)]
        ring = np.unique(reached[~seen[reached]])
        if not len(ring):
            break
        seen[ring] = True
        shares[distance] = relevant[ring].mean()
    return shares


def spans(offsets: Ints, rows: Ints) -> Ints:
    """Return the indices in `targets` of the links of these pages."""
    counts = offsets[rows + 1] - offsets[rows]
    ends = np.cumsum(counts)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
    return np.asarray(np.repeat(offsets[rows], counts) + within)


def walk_locality(web: Web, relevant: Flags) -> Floats:
    """Return P(relevant) after 1, 2, ... random links from a relevant page, without dead ends."""
    counts = np.diff(web.offsets)
    here = relevant / relevant.sum()
    shares = np.zeros(DISTANCES)
    for step in range(DISTANCES):
        flow = np.repeat(here / np.maximum(counts, 1), counts)
        here = np.bincount(web.targets, weights=flow, minlength=len(counts))
        shares[step] = here[relevant].sum() / max(here.sum(), 1e-12)
    return shares


def topic_words(vocabulary: Sequence[Counter[str]], relevant: Flags) -> frozenset[str]:
    """Return the words whose log-odds differ most between relevant and other pages."""
    inside: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    for counts, is_relevant in zip(vocabulary, relevant, strict=True):
        (inside if is_relevant else outside).update(counts.keys())
    n, m = relevant.sum(), (~relevant).sum()
    common = [word for word, count in inside.items() if count >= 0.03 * n]

    def log_odds(word: str) -> float:
        p, q = (inside[word] + 0.5) / (n + 1), (outside[word] + 0.5) / (m + 1)
        return float(np.log(p / (1 - p)) - np.log(q / (1 - q)))

    return frozenset(sorted(common, key=lambda word: (-log_odds(word), word))[:TOPIC_WORDS])


def auc(scores: Floats, truth: Flags) -> float:
    """Return the area under the ROC curve: P(a relevant item scores higher), ties half."""
    _, rank, counts = np.unique(scores, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2  # mean rank of equal scores, from 1
    positives, negatives = int(truth.sum()), int((~truth).sum())
    if not positives or not negatives:
        return 0.5
    excess = middle[rank][truth].sum() - positives * (positives + 1) / 2
    return float(excess / (positives * negatives))


def _hits(counts: Counter[str], wanted: frozenset[str]) -> float:
    return sum(counts[word] for word in wanted & counts.keys()) / max(counts.total(), 1)


def _text_scores(texts: Sequence[str], wanted: frozenset[str]) -> Floats:
    scores = {text: _hits(Counter(words(text)), wanted) for text in set(texts)}
    return np.array([scores[text] for text in texts])


def useless(anchor: str) -> bool:
    """Return whether an anchor says nothing about its target."""
    found = words(anchor)
    return not found or " ".join(found) in USELESS


def near_duplicates(texts: Sequence[str]) -> float:
    """Return the share of pages with a near-duplicate, by bottom-k sketches of word shingles."""
    codes: dict[str, int] = {}
    holders: dict[int, list[int]] = {}
    for i, text in enumerate(texts):
        for entry in _sketch(text, codes):
            holders.setdefault(entry, []).append(i)
    shared: Counter[tuple[int, int]] = Counter()
    for together in holders.values():
        # at most 50 pages: boilerplate on very many pages makes no near-duplicates
        for position, i in enumerate(together[:50]):
            shared.update((i, j) for j in together[position + 1 : 50])
    copies = {i for pair, count in shared.items() if count >= SAME for i in pair}
    return len(copies) / max(len(texts), 1)


def _sketch(text: str, codes: dict[str, int]) -> list[int]:
    found = words(text)
    if len(found) < SHINGLE + SKETCH:
        return []
    for word in set(found) - codes.keys():
        codes[word] = zlib.crc32(word.encode())
    code = np.array([codes[word] for word in found], dtype=np.uint64)
    mixed = np.zeros(len(code) - SHINGLE + 1, dtype=np.uint64)
    for i in range(SHINGLE):
        mixed = (mixed ^ code[i : i + len(mixed)]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return [int(entry) for entry in np.unique(mixed)[:SKETCH]]


def hosts(urls: Sequence[str]) -> dict[str, Any]:
    """Return the number of hosts and the distribution of their sizes."""
    sizes = np.array(list(Counter(urlsplit(url).netloc for url in urls).values()))
    return {
        "count": len(sizes),
        "largest_share": float(sizes.max() / sizes.sum()),
        "size": degree(sizes),
    }


def _spread(values: Sequence[int] | Ints) -> dict[str, float]:
    median, high, top = np.quantile(values, [0.5, 0.9, 0.99])
    return {
        "mean": float(np.mean(values)),
        "median": float(median),
        "p90": float(high),
        "p99": float(top),
        "max": float(np.max(values)),
    }


def _share(flags: Sequence[bool] | Flags) -> float:
    return float(np.mean(flags)) if len(flags) else 0.0
