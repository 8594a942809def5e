"""Training before a crawl: the regression, the calibration, the figures, the files, the command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.errors import HoneyguideError
from honeyguide.learning.logistic import Rows, fit, sigmoid
from honeyguide.training.judge import calibration, train_judge
from honeyguide.training.pages import read_pages
from honeyguide.training.quality import quality
from tests.examples_of_pages import two_kinds

PROGRAM = Path(sys.executable).parent / "honeyguide"


def random_rows(rng, count, dense=3, buckets=20, values=4):
    row = np.repeat(np.arange(count), values)
    bucket = rng.integers(0, buckets, len(row)).astype(np.int32)
    value = rng.normal(size=len(row)).astype(np.float32)
    return Rows(rng.normal(size=(count, dense)).astype(np.float32), row, bucket, value, buckets)


def as_matrix(rows):
    whole = np.zeros((len(rows), rows.width))
    split = rows.dense.shape[1]
    whole[:, :split] = rows.dense
    np.add.at(whole, (rows.row, split + rows.bucket), rows.value)
    return whole


# ------------------------------------------------------------------ regression


@given(seed=st.integers(0, 10**6), count=st.integers(1, 30))
def test_sparse_rows_multiply_like_the_matrix_they_stand_for(seed, count):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, count)
    matrix = as_matrix(rows)
    weights, factors = rng.normal(size=rows.width), rng.normal(size=count)
    assert np.allclose(rows.times(weights), matrix @ weights, atol=1e-4)
    assert np.allclose(rows.transposed_times(factors), factors @ matrix, atol=1e-4)
    chosen = rng.random(count) < 0.5
    assert np.allclose(as_matrix(rows.select(chosen)), matrix[chosen], atol=1e-5)


def newton(x, y, penalty):
    """Return the minimum by Newton's method with the full Hessian."""
    x = np.column_stack([x, np.ones(len(x))])
    ridge = penalty * np.diag([1.0] * (x.shape[1] - 1) + [0.0])
    w = np.zeros(x.shape[1])
    for _ in range(50):
        p = sigmoid(x @ w)
        slope = x.T @ (p - y) / len(y) + ridge @ w
        w -= np.linalg.solve((x.T * (p * (1 - p))) @ x / len(y) + ridge, slope)
    return w


@pytest.mark.parametrize("penalty", [1e-3, 1e-2, 1.0])
def test_the_fit_is_the_minimum_that_newtons_method_finds(penalty):
    rng = np.random.default_rng(0)
    rows = random_rows(rng, 300)
    y = (rng.random(300) < sigmoid(rows.times(rng.normal(size=rows.width)))).astype(float)
    weights, bias = fit(rows, y, penalty)
    assert np.allclose([*weights, bias], newton(as_matrix(rows), y, penalty), atol=0.02)


def test_empty_buckets_have_no_weight_and_separable_pages_give_finite_weights():
    rng = np.random.default_rng(0)
    rows = random_rows(rng, 50, buckets=1000)
    y = (rows.dense[:, 0] > 0).astype(float)
    weights, bias = fit(rows, y, 1e-5)
    assert np.isfinite(weights).all()
    unused = np.setdiff1d(np.arange(1000), rows.bucket)
    assert not weights[3 + unused].any()
    assert ((rows.times(weights) + bias > 0) == (y == 1)).all()


# ------------------------------------------------------------------ calibration


@pytest.mark.parametrize(("slope", "offset"), [(0.3, -1.0), (1.0, 0.0), (2.5, 1.5)])
def test_calibration_finds_how_much_too_sure_the_logits_are(slope, offset):
    rng = np.random.default_rng(1)
    logits = rng.normal(scale=3, size=20_000)
    target = rng.random(20_000) < sigmoid(slope * logits + offset)
    assert calibration(logits, target) == pytest.approx((slope, offset), abs=0.1)


def test_uninformative_logits_become_the_share_of_positive_pages():
    rng = np.random.default_rng(2)
    target = rng.random(5000) < 0.2
    slope, offset = calibration(rng.normal(size=5000), target)
    assert slope < 0.15  # four standard errors
    assert sigmoid(np.array([offset]))[0] == pytest.approx(target.mean(), abs=0.01)


# ------------------------------------------------------------------ figures


def test_figures_are_those_computed_by_hand():
    found = quality(np.array([0.95, 0.9, 0.6, 0.4, 0.1, 0.05]), np.array([1, 0, 1, 1, 0, 0]) == 1)
    assert found.accuracy == pytest.approx(4 / 6)
    assert found.precision == pytest.approx(2 / 3)
    assert found.recall == pytest.approx(2 / 3)
    assert found.auc == pytest.approx(7 / 9)  # 2 of 9 pairs are in the wrong order
    # bins: 0.9 to 1 holds 1.85 for 1 page, 0.6 and 0.4 one each for 1, below 0.2 0.15 for none
    assert found.calibration_error == pytest.approx((0.85 + 0.4 + 0.6 + 0.15) / 6)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_auc_is_the_share_of_pairs_in_the_right_order(pages):
    score, target = np.array([n / 5 for n, _ in pages]), np.array([yes for _, yes in pages])
    if target.all() or not target.any():
        return
    pairs = [(a > b) + (a == b) / 2 for a in score[target] for b in score[~target]]
    assert quality(score, target).auc == pytest.approx(np.mean(pairs))


def test_pages_that_cannot_be_told_apart_are_said_to_be_so(encoder):
    pages, more = two_kinds(seed=5, positives=150, negatives=1, clear=0.1)
    trained = train_judge(pages[:50], [*pages[50:], *more], encoder)
    assert 0.35 < trained.quality.auc < 0.65  # held-out pages were really held out
    assert trained.quality.calibration_error < 0.1


def test_held_out_figures_and_words_are_as_they_should_be(encoder):
    trained = train_judge(*two_kinds(seed=6), encoder)
    assert (trained.positives, trained.negatives) == (40, 80)
    assert trained.quality.accuracy == trained.quality.auc == 1.0
    assert {"lava", "basalt"} & set(trained.words)
    assert not {"ship", "the"} & set(trained.words)


def test_a_page_in_both_files_counts_as_positive(encoder):
    positive, negative = two_kinds(seed=7)
    trained = train_judge(positive, [*positive, *negative], encoder)
    assert (trained.positives, trained.negatives) == (40, 80)
    assert trained.quality.accuracy == 1.0


def test_too_few_pages_are_refused(encoder):
    positive, negative = two_kinds(seed=8)
    with pytest.raises(HoneyguideError, match="4 positive pages are too few: at least 5"):
        train_judge(positive[:4], negative, encoder)
    with pytest.raises(HoneyguideError, match="0 negative pages are too few"):
        train_judge(positive, positive, encoder)


# ------------------------------------------------------------------ files


def lines(pages):
    return "".join(
        json.dumps({"url": p.url, "title": p.title, "text": p.text, "relevant": True}) + "\n"
        for p in pages
    )


def test_pages_are_read_from_json_lines_compressed_or_not(tmp_path):
    pages, _ = two_kinds(seed=0, positives=7)
    (tmp_path / "plain.jsonl").write_text(lines(pages) + "\n")
    (tmp_path / "small.jsonl.zst").write_bytes(zstandard.compress(lines(pages).encode()))
    assert read_pages([tmp_path / "plain.jsonl"]) == pages
    assert read_pages([tmp_path / "small.jsonl.zst"]) == pages
    (tmp_path / "marked.jsonl").write_text(lines(pages), encoding="utf-8-sig")
    assert read_pages([tmp_path / "marked.jsonl"]) == pages
    assert read_pages([tmp_path / "plain.jsonl", tmp_path / "small.jsonl.zst"]) == pages


def test_pages_are_read_from_text_a_page_a_line_and_from_single_html_files(tmp_path):
    (tmp_path / "pages.txt").write_text("rocks and lava\n\nships at sea\nrocks and lava\n")
    assert [p.text for p in read_pages([tmp_path / "pages.txt"])] == [
        "rocks and lava",
        "ships at sea",
    ]
    (tmp_path / "page.html").write_text("\n<html><title>Lava</title><p>Hot rocks everywhere.")
    [page] = read_pages([tmp_path / "page.html"])
    assert (page.title, page.text) == ("Lava", "Hot rocks everywhere.")


def test_pages_are_read_from_folders_of_text_and_html_files(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.html").write_text("<title>Lava</title><p>Hot rocks.</p>")
    (tmp_path / "b.txt").write_text("Two lines\nof one page")
    (tmp_path / "c.txt").write_bytes("Größe".encode("latin-1"))
    (tmp_path / "d.png").write_bytes(b"\x89PNG\0\0\0")
    (tmp_path / ".hidden").write_text("no")
    (tmp_path / "empty.txt").write_text(" \n")
    texts = [(p.title, p.text) for p in read_pages([tmp_path])]
    assert texts == [
        ("", "Two lines\nof one page"),
        ("", "Gr\ufffd\ufffde"),
        ("Lava", "Hot rocks."),
    ]


def test_files_that_cannot_be_read_get_one_sentence(tmp_path):
    with pytest.raises(HoneyguideError, match=r"cannot read .*none: No such file"):
        read_pages([tmp_path / "none"])
    with pytest.raises(HoneyguideError, match="there is no page in"):
        read_pages([tmp_path])
    (tmp_path / "bad.jsonl").write_text('{"text": "fine"}\n{"text": \n')
    with pytest.raises(HoneyguideError, match=r"bad.jsonl line 2 is not a page"):
        read_pages([tmp_path / "bad.jsonl"])
    (tmp_path / "odd.jsonl").write_text('{"text": 5}\n')
    with pytest.raises(HoneyguideError, match=r"odd.jsonl line 1 is not a page"):
        read_pages([tmp_path / "odd.jsonl"])


@pytest.mark.parametrize("body", [b"PAR1\x15\0\x15\n", "Größe".encode("latin-1")])
def test_a_file_that_is_not_text_teaches_nothing(tmp_path, body):
    (tmp_path / "rocks.parquet").write_bytes(b"rocks\n" + body)
    with pytest.raises(HoneyguideError, match=r"rocks.parquet is not text in UTF-8: see line 2"):
        read_pages([tmp_path / "rocks.parquet"])


# ------------------------------------------------------------------ command


def honeyguide(*arguments, folder):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        cwd=folder,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.fixture
def files(tmp_path):
    positive, negative = two_kinds(seed=0)
    (tmp_path / "rocks.jsonl").write_text(lines(positive))
    (tmp_path / "ships.jsonl").write_text(lines(negative))
    return tmp_path


TRAIN = ("train", "judge", "--positive", "rocks.jsonl", "--negative", "ships.jsonl")


def test_a_judge_is_trained_and_a_crawl_uses_it(files, small_graph):
    done = honeyguide(*TRAIN, "--out", "rocks.judge", folder=files)
    assert done.returncode == 0, done.stderr
    assert "trained on 40 positive and 80 other pages" in done.stdout
    assert "held out: accuracy 1.000, precision 1.000, recall 1.000, AUC 1.000" in done.stdout
    crawled = honeyguide(
        *("crawl", "--world", f"graph:{small_graph}", "--judge", "classifier:rocks.judge"),
        *("--topic", "rocks", "--seed", "Page_0", "--budget", 40, "--out", "found"),
        folder=files,
    )
    assert crawled.returncode == 0, crawled.stderr
    exported = honeyguide("export", "found", "--out", "found.jsonl", folder=files)
    assert exported.returncode == 0, exported.stderr
    pages = [json.loads(line) for line in (files / "found.jsonl").read_text().splitlines()]
    assert len(pages) == 40
    for page in pages:
        assert page["relevant"] == ("minerals" in page["text"])
        assert bool(page["reasons"]) == page["relevant"]
    again = honeyguide(
        *("train", "judge", "--positive", "found.jsonl", "--negative", "ships.jsonl"),
        *("--out", "second.judge"),
        folder=files,
    )
    assert again.returncode == 0, again.stderr


def test_nothing_is_overwritten_unasked_and_complaints_are_one_sentence(files):
    (files / "there").write_text("precious")
    done = honeyguide(*TRAIN, "--out", "there", folder=files)
    assert done.returncode == 1
    assert done.stderr == (
        "honeyguide: there already exists: choose another place, or say --replace\n"
    )
    assert (files / "there").read_text() == "precious"
    assert honeyguide(*TRAIN, "--out", "there", "--replace", folder=files).returncode == 0
    nowhere = honeyguide(*TRAIN, "--out", "no/where", folder=files)
    assert (nowhere.returncode, nowhere.stderr.count("\n")) == (1, 1)
    assert "cannot write no/where" in nowhere.stderr
    lacking = honeyguide(*TRAIN[:4], "--out", "x", folder=files)
    assert lacking.returncode == 2
    assert "--negative" in lacking.stderr
