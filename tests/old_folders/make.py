"""Make the folder of a killed crawl; this directory keeps one of each release.

    python tests/old_folders/make.py FOLDER PAGES AGENT

The name of an archive has the version, the agent and the pages; guide is small there
(guide:dimensions=8,buckets=16). Version 0.1.0 (commit 4bb3d71) could not resume those of
depth_first: after a snapshot, links that had been refused were open again. That of 0.3.0 (commit
6d997f2, before its release) has rows of float32 numbers.
"""

import os
import signal
import sys
from pathlib import Path

from honeyguide.plan import Plan
from honeyguide.registry import part
from honeyguide.storage import snapshots
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.testing.webs import GrowingWeb


@part("world", "growing")
def growing(judge):
    """Return the generated web of honeyguide.testing; the judge is not used."""
    return GrowingWeb()


def main(folder, pages, agent):
    snapshots.MIN_VISITS = 60
    seeds = [link.url for link in GrowingWeb.seeds]
    plan = Plan(topic="geology", seeds=seeds, world="growing", agent=agent, guard="watch")
    create_crawl(folder, plan)
    run_crawl(folder, lambda plan, recorded, visit: _kill(recorded, pages))


def _kill(recorded, pages):
    if recorded.memory.visits == pages:
        recorded.store.flush()
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
