"""How well the default judge decides on topics as people type them, beside the judge before it.

python benchmarks/topics.py DATA [--part dev] [--webs wikispeedia,mdn,webkb] [--topics N]

The whole web is judged on each topic of `judged_topics`. "all" is calibrated on all pages of the
web, as `judge_pages` does; "crawl" on the first 320 pages of a best-first crawl, as verdicts of a
crawl are, and "long crawl" on 1,280, as those of later pages are. The crawl starts at a page on the
topic, drawn at random (another one if links end), and follows links by the relevance of the page
they are on. A page's own list of labels is removed from its text. Precision and F1 are 0 for a
topic of which nothing is found. Prints JSON; all means are over topics. Texts are encoded once for
all topics; times are measured without that, on some hundred pages.
"""

import argparse
import heapq
import io
import json
import time
import zlib
from pathlib import Path

import numpy as np
import zstandard
from judged_topics import WEBS, is_on, topics
from labelled_texts import without_labels
from topic_before import TopicBefore

from honeyguide.contracts import Page
from honeyguide.judges.topic import Topic
from honeyguide.registry import make

CRAWLS = {"crawl": 320, "long crawl": 1280}  # pages
SEEDS = 20  # that are tried
TIMED_PAGES, TIMED_TOPICS = 400, 3
SHOWN = 3  # pages of each kind of mistake


class Encoded:
    """An encoder that remembers all texts."""

    def __init__(self, encoder):
        self._encoder, self.width, self.knows = encoder, encoder.width, encoder.knows
        self._vectors = {}

    def __call__(self, texts):
        """One row a text."""
        missing = [text for text in texts if hash(text) not in self._vectors]
        for text, vector in zip(missing, self._encoder(missing), strict=True):
            self._vectors[hash(text)] = vector.astype(np.float16)
        return np.array([self._vectors[hash(text)] for text in texts], np.float32)


def read(file):
    """The pages of a web, and the links of each by number."""
    with Path(file).open("rb") as packed:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), "utf-8")
        rows = [json.loads(line) for line in lines]
    pages = [
        Page(row["id"], row["title"], without_labels(row["text"]), labels=tuple(row["labels"]))
        for row in rows
    ]
    number = {row["id"]: n for n, row in enumerate(rows)}
    links = [[number[link[0]] for link in row["links"] if link[0] in number] for row in rows]
    return pages, links


def crawled(seed, links, relevance, most):
    """The pages of a best-first crawl, in order."""
    found, seen, waiting = [], {seed}, [(0.0, 0, seed)]
    while waiting and len(found) < most:
        page = heapq.heappop(waiting)[2]
        found.append(page)
        for target in links[page]:
            if target not in seen:
                seen.add(target)
                heapq.heappush(waiting, (-relevance[page], len(seen), target))
    return found


def a_crawl(rng, on_topic, links, relevance, most):
    """The first crawl of so many pages from a page on the topic, or the longest of twenty."""
    longest = []
    for seed in rng.choice(on_topic, SEEDS).tolist():
        found = crawled(seed, links, relevance, most)
        longest = max(longest, found, key=len)
        if len(longest) == most:
            break
    return longest


def quality(score, relevant, true):
    """Precision, recall and F1, what the best threshold would give, and the AUC."""
    hits = int((relevant & true).sum())
    order = np.argsort(-score, kind="stable")
    ranked, last = true[order], np.append(np.diff(score[order]) != 0, True)
    f1 = 2 * np.cumsum(ranked) / (np.arange(1, len(true) + 1) + true.sum())
    ranks = _ranks(score)
    positive = int(true.sum())
    above = ranks[true].sum() - positive * (positive + 1) / 2
    return {
        "precision": hits / max(1, int(relevant.sum())),
        "recall": hits / positive,
        "f1": 2 * hits / (int(relevant.sum()) + positive),
        "best_f1": float(f1[last].max()),
        "auc": above / (positive * (len(true) - positive)),
        "found": int(relevant.sum()),
    }


def _ranks(score):
    _, place, count = np.unique(score, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def judged(topic, rule, pages, links, encoder):
    """One row: both judges on all pages of a web."""
    true = np.array([is_on(page.labels, rule) for page in pages])
    before = np.array([TopicBefore(topic, encoder)(page).relevance for page in pages])
    judge = Topic(topic, encoder)
    verdicts = [judge(page) for page in pages]
    unfitted = np.array([verdict.relevance for verdict in verdicts])
    measures = np.array([verdict.measures for verdict in verdicts], np.float32)
    fitted = {"all": range(len(pages))}
    for name, most in CRAWLS.items():
        rng = np.random.default_rng(zlib.crc32(topic.encode()))
        fitted[name] = a_crawl(rng, np.flatnonzero(true), links, unfitted, most)
    row = {
        "topic": topic,
        "pages": int(true.sum()),
        "before": quality(before, before >= 0.5, true),
        "unfitted": quality(unfitted, unfitted >= 0.5, true),
    }
    for name, chosen in fitted.items():
        calibration = judge.calibration()
        calibration.fit(measures[list(chosen)])
        score, relevant = calibration.decide(measures)
        row[name] = quality(score, relevant, true)
        if name == "all":
            row["mistakes"] = mistakes(score, relevant, true, pages)
    for name in CRAWLS:
        row[name]["fitted_pages"] = len(fitted[name])
        row[name]["of_them_relevant"] = int(true[fitted[name]].sum())
    return row


def mistakes(score, relevant, true, pages):
    """The surest pages that are wrong."""
    wrong, missed = np.flatnonzero(relevant & ~true), np.flatnonzero(~relevant & true)
    return {
        "accepted": [pages[n].title for n in wrong[np.argsort(-score[wrong])][:SHOWN]],
        "refused": [pages[n].title for n in missed[np.argsort(score[missed])][:SHOWN]],
    }


def milliseconds(phrases, pages):
    """Processor time a page of both judges, in turns, each text encoded anew."""
    chosen = pages[:: max(1, len(pages) // TIMED_PAGES)]
    spent = {"before": 0.0, "now": 0.0}
    judges = {"before": TopicBefore, "now": Topic}
    for topic in phrases:
        for name, kind in judges.items():
            judge = kind(topic, make("encoder", "wordllama"))
            for page in chosen:  # words of the encoder are cached, as in a crawl
                judge(page)
            begin = time.process_time()
            for page in chosen:
                judge(page)
            spent[name] += time.process_time() - begin
    return {name: 1000 * s / len(phrases) / len(chosen) for name, s in spent.items()}


def means(rows):
    """Means over topics of each way to decide."""
    names = ("precision", "recall", "f1", "best_f1", "auc")
    table = {}
    for way in ("before", "unfitted", "all", *CRAWLS):
        table[way] = {name: float(np.mean([row[way][name] for row in rows])) for name in names}
        table[way]["share_of_best"] = table[way]["f1"] / table[way]["best_f1"]
    return table


def rounded(value):
    """The same with three digits after the point."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 3) if isinstance(value, float) else value


def main():
    """Print one JSON object a web."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", default="test", choices=("dev", "test"))
    parser.add_argument("--webs", default=",".join(WEBS))
    parser.add_argument("--topics", type=int, help="only the first ones")
    settings = parser.parse_args()
    for web in settings.webs.split(","):
        pages, links = read(settings.data / web / "pages.jsonl.zst")
        chosen = list(topics(web, settings.part).items())[: settings.topics]
        encoder = Encoded(make("encoder", "wordllama:cache_megabytes=0"))
        rows = [judged(topic, rule, pages, links, encoder) for topic, rule in chosen]
        times = milliseconds([topic for topic, _ in chosen[:TIMED_TOPICS]], pages)
        found = {"web": web, "part": settings.part, "topics": len(rows), "pages": len(pages)}
        found |= {"means": means(rows), "ms_a_page": times, "rows": rows}
        print(json.dumps(rounded(found), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
