import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from honeyguide.contracts import Link, Page, Response, Verdict, Visit
from honeyguide.disk.serialise import (
    DamagedError,
    pack_links,
    pack_visit,
    read_state,
    unpack_links,
    unpack_visit,
    write_state,
)

texts = st.text(st.characters(), max_size=20)  # lone surrogates and NULs included
numbers = st.floats(allow_nan=False)
links = st.builds(
    Link,
    url=texts,
    anchor=texts,
    context=texts,
    tag_path=texts,
    depth=st.integers(0, 1 << 40),
    source=texts,
    box=st.none() | st.tuples(numbers, numbers, numbers, numbers),
)
pages = st.builds(
    Page,
    url=texts,
    title=texts,
    text=texts,
    links=st.lists(links, max_size=4).map(tuple),
    labels=st.lists(texts, max_size=2).map(tuple),
)
verdicts = st.builds(
    Verdict,
    relevance=numbers | arrays.from_dtype(np.dtype(np.float32), allow_nan=False),
    relevant=st.booleans(),
    reasons=st.lists(texts, max_size=2).map(tuple),
)
visits = st.builds(
    Visit,
    link=links,
    page=st.none() | pages,
    verdict=verdicts,
    response=st.none(),
    failure=texts,
    seconds=numbers,
    host_delay=st.none() | numbers,
)

array_types = arrays.scalar_dtypes().filter(lambda dtype: dtype.kind in "biufc")
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 130), 1 << 130)  # a PCG64 generator's state has 128 bits
    | st.floats()
    | texts
    | st.binary(max_size=20)
    | array_types.flatmap(lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_side=0)))
    | array_types.flatmap(lambda dtype: arrays.arrays(dtype, ()).map(lambda one: one[()]))
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(texts | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)
states = st.dictionaries(texts, values, max_size=5)


def is_same(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, np.ndarray | np.generic):
        same_form = one.dtype == other.dtype and one.shape == other.shape
        return same_form and one.tobytes() == other.tobytes()
    return one == other or repr(one) == repr(other) == "nan"


def write(path, state):
    with path.open("wb") as file:
        assert write_state(file, state) == file.tell()


@given(visits)
def test_a_visit_comes_back_as_it_was(visit):
    back = unpack_visit(pack_visit(visit), visit.page.text if visit.page else "")
    assert back == visit
    assert type(back.verdict.relevance) is type(visit.verdict.relevance)


def test_response_and_html_stay_out_of_a_packed_visit():
    link = Link("http://a.example/")
    response = Response(link, link.url, 200, body=b"x" * 5000)
    page = Page(link.url, text="t" * 5000, html=b"x" * 5000)
    visit = Visit(link, page, Verdict(1.0, True), response)
    assert len(pack_visit(visit)) < 200


@given(st.lists(links, max_size=5))
def test_links_come_back_as_they_were(found):
    assert unpack_links(pack_links(found)) == found


@settings(max_examples=60, deadline=None)
@given(states)
def test_a_state_comes_back_as_it_was(tmp_path_factory, state):
    path = tmp_path_factory.mktemp("states") / "state"
    before = copy.deepcopy(state)
    write(path, state)
    assert is_same(read_state(path), before)


def test_a_generator_goes_on_from_its_saved_state(tmp_path):
    rng = np.random.default_rng(7)
    rng.random(5)
    write(tmp_path / "state", {"rng": rng.bit_generator.state})
    other = np.random.default_rng()
    other.bit_generator.state = read_state(tmp_path / "state")["rng"]
    assert rng.random(10).tolist() == other.random(10).tolist()


def test_the_order_of_an_array_in_memory_stays(tmp_path):
    columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    write(tmp_path / "state", {"a": columns, "slice": np.arange(20)[::3]})
    back = read_state(tmp_path / "state")
    assert back["a"].flags.f_contiguous
    assert back["a"].tolist() == columns.tolist()
    assert back["slice"].tolist() == [0, 3, 6, 9, 12, 15, 18]


@pytest.mark.parametrize("value", [{1, 2}, np.array([object()]), object()])
def test_what_cannot_be_kept_is_refused(tmp_path, value):
    with pytest.raises(TypeError):
        write(tmp_path / "state", {"a": value})


@settings(max_examples=100, deadline=None)
@given(where=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255), cut=st.booleans())
def test_any_damage_to_a_written_state_is_noticed(tmp_path_factory, where, flip, cut):
    path = tmp_path_factory.mktemp("states") / "state"
    write(path, {"a": np.arange(1000), "b": ["text", 1 << 100], "c": np.zeros(7, np.float32)})
    data = bytearray(path.read_bytes())
    place = int(where * len(data))
    if cut:
        del data[place:]
    else:
        data[place] ^= flip
    path.write_bytes(data)
    with pytest.raises(DamagedError):
        read_state(path)
