"""What every registered frontier promises."""

import pytest

from honeyguide.testing import check_frontier

from . import samples


@pytest.mark.parametrize("name", samples.names("frontier"))
def test_every_frontier_keeps_its_promises(name):
    check_frontier(name, comes_back=name == "walks")
