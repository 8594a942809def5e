"""What waiting for better links brings: pages a second against relevant pages, by patience.

Generated webs are crawled on a simulated clock, on which hosts take their response times.
"""

import argparse
import json
from itertools import product

from honeyguide.plan import Plan

PATIENCE = (0.0, 0.25, 1.0, None, 20.0)  # seconds; None: the default


def main() -> None:
    """Print one JSON object a setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", default="geology,poetry,sailing")
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--delay", type=float, default=1.0, help="seconds")
    parser.add_argument("--agent", default="guide")
    arguments = parser.parse_args()
    for topic, in_flight, patience in product(arguments.topics.split(","), (1, 32), PATIENCE):
        outcome = Plan(
            topic=topic,
            seeds=(topic,),
            world=f"synthetic:pages={arguments.pages},delays=true",
            judge=f"label:{topic}",
            budget=arguments.budget,
            in_flight=in_flight,
            delay=arguments.delay,
            agent=arguments.agent,
            patience=patience,
        ).simulate()
        figures = {
            "relevant": outcome.relevant,
            "simulated_seconds": round(outcome.seconds),
            "pages_a_second": round(outcome.pages / outcome.seconds, 2),
            "relevant_a_second": round(outcome.relevant / outcome.seconds, 2),
        }
        setting = {"topic": topic, "in_flight": in_flight, "patience": patience}
        print(json.dumps(setting | figures), flush=True)


if __name__ == "__main__":
    main()
