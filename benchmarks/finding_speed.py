"""What a page costs the source finder that ships, without its fetch: prints JSON.

python -m benchmarks.finding_speed [--data DIR] [--pages 400]    in the folder of the source

Milliseconds of processor time a page: reading its HTML, weighing its links, scoring it as a source.
Texts are new (nothing is remembered when a page comes) or known (the page came before). Pages are
those of generated test sites and, with a folder that has webkb, real ones.
"""

import argparse
import json
import time
from itertools import islice
from pathlib import Path

import numpy as np

from experiments.harness.webs import ARCHIVE
from experiments.liao2022_webkb import university_pages
from honeyguide.registry import make
from honeyguide.source_finder.inputs import page_inputs
from honeyguide.source_finder.model import read_model, shared_encoder
from honeyguide.source_finder.scorer import encoded, page_texts
from honeyguide.web.html import parse


def generated(count):
    """Home pages of test sites and the pages they link to: URL and body, site by site."""
    world = make("world", "organisations:mixed", judge=make("judge", "label:source:events"))
    urls = (
        url
        for home in world.homes
        for url in [home, *(link.url for link in world.page(home).links[:9])]
    )
    return [(url, world.html(url)) for url in islice(urls, count)]


def recorded(folder, count):
    """Some of webkb's pages, spread over all of them."""
    rows = university_pages(str(folder / "webkb" / ARCHIVE))
    some = rows[:: max(1, len(rows) // count)][:count]
    return [(page.url, page.html) for _, page in some]


class Stages:
    """The shipped finder's work on a page, step by step."""

    def __init__(self):
        self.model = read_model("events")
        self.encoder = shared_encoder(self.model.encoder)

    def forget(self):
        """Know no text."""
        for encoder in self.encoder._parts:
            encoder._cached.clear()

    def run(self, url, body):
        """Milliseconds of reading, links and scorer, and the number of links."""
        times = [time.process_time()]
        page = parse(body, url).page
        times.append(time.process_time())
        self.model.policy(page_inputs(page.links, self.encoder))
        times.append(time.process_time())
        texts = page_texts(type(page)(page.url, page.title, page.text, page.links, html=body))
        self.model.scorer(encoded([texts], self.encoder))
        times.append(time.process_time())
        return [*(1000 * np.diff(times)).tolist(), len(page.links)]


def measure(stages, pages):
    """Means and the slowest in twenty, texts new and known."""
    for url, body in pages[:5]:
        stages.run(url, body)
    rows = {"texts_new": [], "texts_known": []}
    for url, body in pages:
        stages.forget()
        for row in rows.values():  # the second time they are known
            row.append(stages.run(url, body))
    links = [row[-1] for row in rows["texts_new"]]
    report = {
        "pages": len(pages),
        "links_mean": round(float(np.mean(links)), 1),
        "links_most": max(links),
    }
    for name, row in rows.items():
        read, weigh, score = np.array(row).T[:3]
        whole = read + weigh + score
        numbers = {"reading": read.mean(), "links": weigh.mean(), "scorer": score.mean()}
        numbers |= {"all": whole.mean(), "all_p95": np.quantile(whole, 0.95), "most": whole.max()}
        report[name] = {what: round(float(number), 2) for what, number in numbers.items()}
    return report


def main():
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with webkb/html.tar.zst")
    parser.add_argument("--pages", type=int, default=400)
    asked = parser.parse_args()
    stages = Stages()
    report = {"nets": stages.model.policy.times, "unit": "milliseconds of processor time a page"}
    report["generated"] = measure(stages, generated(asked.pages))
    if asked.data:
        report["webkb"] = measure(stages, recorded(asked.data, asked.pages))
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
