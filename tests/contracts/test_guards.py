"""What every registered guard promises."""

import pytest

from honeyguide.guards.bounds import Bounds
from honeyguide.guards.few_hosts import FewHosts
from honeyguide.guards.lists import Lists
from honeyguide.guards.live import LiveGuard
from honeyguide.guards.once_per_target import OncePerTarget
from honeyguide.testing import check_guard

from . import samples


def listed():
    return Lists(LiveGuard(), deny=["h1.example", "*/cheese/*"])


def few():
    return FewHosts(listed(), 40)


def bounded():
    return Bounds(listed(), max_depth=2, max_per_host=3, languages=("en", "de"))


def once():
    return OncePerTarget(listed(), lambda verdict: "the target")


@pytest.mark.parametrize("part", [*samples.names("guard"), listed, few, bounded, once])
def test_every_guard_keeps_its_promises(part):
    check_guard(part)
