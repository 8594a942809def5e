"""What waiting for a much better link brings: relevant pages and seconds, by visits in flight."""

import argparse
import json
from itertools import product

from honeyguide.plan import Plan

PATIENCE = (0.0, 2.0, 5.0, 20.0)  # seconds


def main() -> None:
    """Print one JSON object a setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", default="geology,poetry,sailing")
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--budget", type=int, default=1000)
    arguments = parser.parse_args()
    for topic, in_flight, patience in product(arguments.topics.split(","), (16, 64), PATIENCE):
        outcome = Plan(
            topic=topic,
            seeds=(topic,),
            world=f"synthetic:pages={arguments.pages},delays=true",
            judge=f"label:{topic}",
            budget=arguments.budget,
            in_flight=in_flight,
            delay=1.0,
            patience=patience,
        ).simulate()
        figures = {"relevant": outcome.relevant, "simulated_seconds": round(outcome.seconds)}
        setting = {"topic": topic, "in_flight": in_flight, "patience": patience}
        print(json.dumps(setting | figures), flush=True)


if __name__ == "__main__":
    main()
