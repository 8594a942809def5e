"""Which pages every agent visits, in which order, as digests: a rebuilt crawler decides the same.

    python benchmarks/decisions.py --data DATA > before.json
    python benchmarks/decisions.py --data DATA --compare before.json

DATA holds wikispeedia and webkb as JSON lines (pages.jsonl.zst); without it, only the generated
web is crawled. Digests depend on the machine's arithmetic: compare those of one machine.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from honeyguide.plan import Plan
from honeyguide.registry import parts

SYNTHETIC = {
    "world": "synthetic:pages=20000",
    "topic": "geology",
    "judge": "label:topic:geology",
    "seeds": ("5 random pages",),
}
GRAPHS: dict[str, dict[str, Any]] = {
    "wikispeedia": {
        "topic": "birds",
        "judge": "label:subject.Science.Biology.Birds",
        "seeds": ("Bird", "Science"),
    },
    "webkb": {"topic": "course", "judge": "label:course", "seeds": ("5 random pages",)},
}
SETTINGS: dict[str, dict[str, Any]] = {  # besides the agent alone
    "guarded, many in flight": {"guard": "watch", "in_flight": 8, "delay": 0.5},
    "gated": {"gate": "parse_or_skip"},
    "bounded": {"max_waiting": 300, "guard": "watch"},
    "by the default judge": {"judge": "topic"},
}
SETTINGS_OF = ("guide", "best_first", "linear_sync")  # agents that are run with each of them
LEFT_OUT = {"source_finder", "url_async_dqn"}  # clicks on sites; its processes race


def trace(budget: int, **settings: Any) -> dict[str, Any]:
    """The pages that a crawl visits, and how well they were scored."""
    digest, visits, relevant = hashlib.sha256(), 0, 0

    def note(visit: Any, step: Any, now: float) -> None:
        nonlocal visits, relevant
        digest.update(f"{visit.link.url} {step.reward!r} {step.verdict.relevance:.6f}\n".encode())
        visits += 1
        relevant += step.verdict.relevant

    Plan(budget=budget, **settings).simulate(note)
    return {"digest": digest.hexdigest()[:16], "visits": visits, "relevant": relevant}


def webs(data: Path | None, kept: Path) -> dict[str, dict[str, Any]]:
    """The webs to crawl, with what is looked for in each."""
    found = {"synthetic": SYNTHETIC}
    for name, settings in GRAPHS.items() if data else ():
        out = kept / name
        if not out.exists():
            source = data / name / "pages.jsonl.zst"
            command = [sys.executable, "-m", "honeyguide", "import", "jsonl", source, out]
            subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        found[name] = {"world": f"graph:{out}", **settings}
    return found


def crawls() -> list[tuple[str, str, dict[str, Any]]]:
    """What is run on every web: a name, an agent and settings."""
    agents = sorted(set(parts("agent")) - LEFT_OUT)
    alone = [(agent, agent, {}) for agent in agents]
    more = [
        (f"{agent}, {name}", agent, settings)
        for agent in SETTINGS_OF
        for name, settings in SETTINGS.items()
    ]
    return alone + more


def main() -> int:
    """Crawl, print the digests, and compare them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with wikispeedia and webkb")
    parser.add_argument("--budget", type=int, default=400, help="pages of each crawl")
    parser.add_argument("--compare", type=Path, help="digests of an earlier run")
    options = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as kept:
        for web, settings in webs(options.data, Path(kept)).items():
            for name, agent, more in crawls():
                said = {**settings, **more, "agent": agent}
                found[f"{web}: {name}"] = trace(options.budget, **said)
                print(web, name, found[f"{web}: {name}"], file=sys.stderr)
    print(json.dumps(found, indent=1))
    if options.compare is None:
        return 0
    before = json.loads(options.compare.read_text())
    differing = [name for name in before if before[name] != found.get(name)]
    said = f"{len(before) - len(differing)} of {len(before)} as before"
    print(said, *differing, sep="\n  ", file=sys.stderr)
    return len(differing) > 0


if __name__ == "__main__":
    sys.exit(main())
