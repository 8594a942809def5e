"""What every registered gate promises."""

import pytest

from honeyguide.testing import check_gate

from . import samples


@pytest.mark.parametrize("name", samples.names("gate"))
def test_every_gate_keeps_its_promises(name, encoder):
    check_gate(name, encoder=encoder)
