"""What is known of hosts, against one another."""

import numpy as np
import pytest

from honeyguide.features.host_records import HostRecords

BARREN = 0.3 * np.log(3)  # two visits without a relevant page


@pytest.fixture
def records():
    """Of three hosts, the first was visited three times, the last two in vain; the third never."""
    records = HostRecords()
    records.grow(np.arange(3, dtype=np.int32))
    for host, relevant in ((0, 1.0), (0, 0.0), (1, 1.0), (0, 0.0)):
        records.add_visit(host, relevant)
    return records


def test_hosts_are_compared_with_the_mean_of_those_visited(records):
    # known: 3/4 and 1/2, in the mean 5/8; barren: BARREN and 0, in the mean half of it
    expected = [[1 / 8, BARREN / 2], [-1 / 8, -BARREN / 2], [-5 / 8, -BARREN / 2]]
    assert records.rows(np.arange(3, dtype=np.int32)) == pytest.approx(np.array(expected))


def test_a_relevant_page_ends_a_barren_time(records):
    records.add_visit(0, 1.0)
    assert records.rows(np.arange(3, dtype=np.int32))[:, 1] == pytest.approx(0.0)


def test_a_single_host_is_worth_exactly_nothing():
    records, only = HostRecords(), np.zeros(1, np.int32)
    records.grow(only)
    for visit in range(500):
        records.add_visit(0, float(visit % 7 == 0))
        assert not records.rows(only).any()


def test_dot_is_the_product_with_the_rows(records):
    hosts, weights = np.array([2, 0, 0, 1], np.int32), np.array([0.5, -2.0], np.float32)
    assert records.dot(hosts, weights) == pytest.approx(records.rows(hosts) @ weights)


def test_saved_records_go_on_the_same(records):
    again, hosts = HostRecords(), np.arange(3, dtype=np.int32)
    again.load(records.state())
    for each in (records, again):
        each.add_visit(2, 0.0)
    assert np.array_equal(again.rows(hosts), records.rows(hosts))
