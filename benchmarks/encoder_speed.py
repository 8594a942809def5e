"""How fast encoders and judges are: prints JSON.

python benchmarks/encoder_speed.py [--data pages.jsonl.zst]
"""

import argparse
import io
import json
import time
from itertools import islice
from pathlib import Path

import numpy as np
import zstandard

from honeyguide.contracts import Page
from honeyguide.judges.closeness import YARDSTICK
from honeyguide.registry import make, parts

LINKS_A_PAGE = 30
PAGE_LENGTH = 20_000  # characters
PAGES = 300


def recorded(path):
    """Texts of a recorded web."""
    with Path(path).open("rb") as file:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8")
        for line in lines:
            yield json.loads(line)["text"]


def generated(rng):
    """Texts of words drawn from a small English vocabulary and from made-up ones."""
    vocabulary = " ".join(text for _, text in YARDSTICK).split()
    vocabulary += ["".join(rng.choice(list("aeioulnrst"), 6)) for _ in range(3000)]
    while True:
        yield " ".join(rng.choice(vocabulary, PAGE_LENGTH // 6))


def page_texts(path):
    """Texts of PAGE_LENGTH characters."""
    source = recorded(path) if path else generated(np.random.default_rng(0))
    long_enough = (text for text in source if len(text) >= PAGE_LENGTH)
    return [text[:PAGE_LENGTH] for text in islice(long_enough, PAGES)]


def encoder_speed(name, texts):
    """Texts a second, in batches of a page's links: all new, words known, texts known."""
    started = time.perf_counter()
    encoder = make("encoder", name)
    encoder(["warm"])
    result = {"load_seconds": round(time.perf_counter() - started, 2)}
    for state in ("cold", "words_known", "cached"):
        if state == "words_known":
            encoder._cached.clear()
        started = time.perf_counter()
        for start in range(0, len(texts), LINKS_A_PAGE):
            encoder(texts[start : start + LINKS_A_PAGE])
        result[f"texts_per_second_{state}"] = round(len(texts) / (time.perf_counter() - started))
    return result


def judge_speed(name, encoder, pages):
    """Microseconds to judge a page, in the mean and at best of three rounds."""
    judge = make("judge", name, topic="geology", encoder=encoder)
    rounds = []
    for _ in range(3):
        started = time.perf_counter()
        for page in pages:
            judge(page)
        rounds.append((time.perf_counter() - started) / len(pages) * 1e6)
    return round(min(rounds), 1)


def main():
    """Measure everything once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="pages.jsonl.zst of a recorded web; else generated texts")
    texts = page_texts(parser.parse_args().data)
    link_texts = [text[i : i + 50] for text in texts for i in range(0, 5000, 50)]
    pages = [Page("http://x.example/", text[:40], text) for text in texts]
    encoders = [name for name in ("wordllama", "wordllama:64", "glove") if _is_there(name)]
    judges = ("keywords", "topic", "embedding", "tfidf")
    report = {
        "pages": len(pages),
        "page_characters": PAGE_LENGTH,
        "link_texts": len(set(link_texts)),
        "encoders": {name: encoder_speed(name, link_texts) for name in encoders},
    }
    encoder = make("encoder", "wordllama")
    speeds = {name: judge_speed(name, encoder, pages) for name in judges}
    report["judges_microseconds_a_page"] = speeds
    print(json.dumps(report, indent=2))


def _is_there(spec):
    return spec.partition(":")[0] in parts("encoder")


if __name__ == "__main__":
    main()
