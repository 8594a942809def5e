"""Make the pictures of the dashboard in docs/images, from a crawl that runs meanwhile.

    python benchmarks/dashboard_pictures.py [--out docs/images]

Needs the extra `browser` and Chromium.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.web.layout import chromium

TOPIC, AGENTS = "geology", ("guide", "breadth_first")
PAGES, SHOWN_AT = 6000, 260  # of the web, and when the pictures are taken
SECONDS = 0.06  # of a page: slow enough to be watched
DASHBOARD = [sys.executable, "-c", "from honeyguide.cli import main; main()", "dashboard"]


def main() -> None:
    """Crawl twice, and take the pictures while the second crawl runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--child", type=Path)
    given = parser.parse_args()
    if given.child:
        run_crawl(given.child, lambda *_: time.sleep(SECONDS))
        return
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place) / name for name in ("rocks", "rocks-in-breadth")]
        for folder, agent in zip(folders, AGENTS, strict=True):
            world = f"readable:pages={PAGES}"
            budget = 2000 if agent == "guide" else SHOWN_AT
            plan = Plan(topic=TOPIC, seeds=(TOPIC,), world=world, agent=agent, budget=budget)
            create_crawl(folder, plan)
        run_crawl(folders[1], lambda *_: None)
        command = [sys.executable, __file__, "--child", str(folders[0])]
        with subprocess.Popen(command) as crawl:
            try:
                with _dashboard(*folders) as url:
                    _take(url, given.out)
            finally:
                crawl.terminate()


@contextmanager
def _dashboard(*folders: Path) -> Iterator[str]:
    command = [*DASHBOARD, *map(str, folders)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().removeprefix("dashboard: ").strip()
        finally:
            process.terminate()


def _take(url: str, out: Path) -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 an extra

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = _open(browser, url, 1400, 1180, "light")
        page.screenshot(path=out / "dashboard.png")
        page = _open(browser, url, 1180, 900, "dark")
        page.click('#links button:has-text("why")')
        page.wait_for_selector("#why .why-row", timeout=60_000)
        page.evaluate("document.activeElement.blur()")
        page.screenshot(path=out / "dashboard-why.png")
        page = _open(browser, url, 390, 844, "light")
        page.screenshot(path=out / "dashboard-phone.png")
        browser.close()


def _open(browser: Any, url: str, width: int, height: int, scheme: str) -> Any:
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(url)
    enough = "least => Number(document.querySelectorAll('.figure b')[1]?.textContent"
    page.wait_for_function(f"{enough}.replace(',', '')) >= least", arg=SHOWN_AT, timeout=300_000)
    page.wait_for_selector("#links .reason", timeout=60_000)
    return page


if __name__ == "__main__":
    main()
