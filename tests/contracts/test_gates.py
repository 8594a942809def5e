"""What every registered gate promises."""

import pytest

from honeyguide.testing import check_gate

from . import samples


@pytest.mark.parametrize("name", samples.names("gate"))
def test_every_gate_keeps_its_promises(name, encoder):
    check_gate(name, encoder=encoder)


@pytest.mark.parametrize(
    "spec",
    [
        "parse_or_skip:first=random",
        "parse_or_skip:printed=yes,ratio=2,source_bound=0.1,host_bound=0.1,url_bound=0.5",
        "parse_or_skip_document:gamma=1,penalty=1,first=random",
    ],
)
def test_a_gate_with_other_settings_keeps_them_too(spec, encoder):
    check_gate(spec, encoder=encoder)
