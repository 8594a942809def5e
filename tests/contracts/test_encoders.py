"""What every registered encoder promises."""

import pytest

from honeyguide.testing import check_encoder

from . import samples

SPELT_ALIKE = ("volcanic rock", "a rock of a volcano", "electric guitar")
MEANT_ALIKE = ("volcanic rock", "stone and lava", "electric guitar music")


@pytest.mark.parametrize("name", samples.names("encoder"))
def test_every_encoder_keeps_its_promises(name):
    check_encoder(name, near=SPELT_ALIKE if name in samples.SPELLING else MEANT_ALIKE)
