"""What every registered agent promises."""

import pytest

from honeyguide.testing import check_agent

from . import samples


@pytest.mark.parametrize("name", samples.names("agent"))
def test_every_agent_keeps_its_promises(name, encoder):
    spec = samples.SPECS.get(("agent", name), name)
    check_agent(spec, encoder=encoder, sees_truth=name in samples.SEERS)
