"""What a crawl finds does not depend on how many visits are in flight."""

import pytest

from honeyguide.plan import Plan

WEB = "synthetic:pages=4000,delays=true"  # visits take the response times of hosts


def crawl(agent, in_flight, **settings):
    said = {"topic": "geology", "seeds": ("geology",), "judge": "label:geology", "world": WEB}
    return Plan(agent=agent, budget=250, in_flight=in_flight, **said, **settings).simulate()


@pytest.mark.parametrize("agent", ["guide", "best_first"])
def test_thirty_two_visits_in_flight_find_what_one_finds_sooner(agent):
    one, many = crawl(agent, 1), crawl(agent, 32)
    assert many.relevant >= 0.9 * one.relevant
    assert many.seconds < 0.7 * one.seconds


def test_without_patience_a_crawl_is_fast_and_finds_less():
    patient, hasty = crawl("guide", 32), crawl("guide", 32, patience=0.0)
    assert hasty.seconds < patient.seconds
    assert hasty.relevant < 0.8 * patient.relevant
