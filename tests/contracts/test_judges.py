"""What every registered judge promises."""

import pytest

from honeyguide.testing import check_judge
from honeyguide.testing.judges import ABOUT, ELSEWHERE

from . import samples


@pytest.mark.parametrize("name", samples.names("judge"))
def test_every_judge_keeps_its_promises(name, encoder):
    spec = samples.judge_spec(name, encoder)
    check_judge(spec, encoder=encoder, relevant=ABOUT, irrelevant=ELSEWHERE)


def test_a_network_keeps_the_promises_of_judges(encoder):
    spec = f"classifier:{samples.trained_network(encoder)}"
    check_judge(spec, encoder=encoder, relevant=ABOUT, irrelevant=ELSEWHERE)
