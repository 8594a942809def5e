"""Features of links for learners outside honeyguide."""

import json

import pytest

from honeyguide import registry
from honeyguide.contracts import Agent, Goal
from honeyguide.integrations.link_rows import LinkRows
from honeyguide.plan import Plan
from honeyguide.registry import registration
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.exports import export


class ByRows(Agent):
    """An agent that scores links by their similarity to the topic."""

    def __init__(self, goal: Goal) -> None:
        self.features = LinkRows(goal)

    def score(self, links):
        return links.x[:, 0]

    def learn(self, steps):
        pass

    def state(self):
        return {"links": self.features.state()}

    def load(self, state):
        self.features.load(state["links"])


@pytest.fixture
def by_rows(monkeypatch):
    registry.parts("agent")
    made = registry.Part("agent", "by_rows", ByRows)
    monkeypatch.setitem(registration.registered["agent"], "by_rows", made)
    return Plan(
        topic="geology",
        seeds=("geology",),
        world="synthetic:pages=1500",
        agent="by_rows",
        budget=90,
    )


def test_an_agent_on_these_rows_goes_on_as_if_it_had_never_stopped(by_rows, tmp_path):
    def crawled(name, *budgets):
        create_crawl(tmp_path / name, by_rows)
        for budget in budgets:
            run_crawl(tmp_path / name, lambda plan, recorded, visit: None, budget=budget)
        export(tmp_path / name, "jsonl", tmp_path / f"{name}.jsonl")
        lines = (tmp_path / f"{name}.jsonl").read_text().splitlines()
        return [json.loads(line)["url"] for line in lines]

    assert crawled("stopped", 20, 90) == crawled("whole", 90)
