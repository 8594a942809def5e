"""Train the network that finds the main text of a page, and write its weights.

    python -m experiments.main_text_training DATA [--folds 8,9] [--seed 0] [--out FILE]

DATA holds main-text, and webkb and schools-wiki as html.tar.zst. The pages of the test folds of
`experiments/main_text_pages.py` are never read. --folds leaves these folds of the others out, too,
and prints how well their pages are read: so was everything chosen. Without it, the weights that
come with the package are made: honeyguide/web/main_text.model.

Beside the marked pages it learns from made ones (`experiments/main_text_made.py`); from home pages
of webkb, where all text is content; and from the encyclopedia, whose articles have a known frame.
It takes about five minutes on one core.
"""

import argparse
import random
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import zstandard
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from experiments.main_text_made import article, documentation
from experiments.main_text_pages import (
    SHINGLE,
    MarkedPage,
    Score,
    marked_pages,
    mean,
    score,
    shingles,
    words_of,
)
from honeyguide.web import html
from honeyguide.web.block_names import NAME_BITS, TAG_BITS
from honeyguide.web.blocks import Blocks, read_blocks
from honeyguide.web.main_text import features

HIDDEN = 32
EPOCHS = 24
BATCH = 16
RATE = 4e-3
DECAY = 1e-2
DROPOUT = 0.3
NAMELESS = 0.3  # share of pages read without class names, and again with some of them
MADE = 0.5  # made articles for each marked one; half as many pages of documentation
HOME_PAGES, ARTICLES = 300, 150
PACKAGED = Path(__file__).parents[1] / "honeyguide" / "web" / "main_text.model"


class Example(NamedTuple):
    """The blocks of a page, and which of them are content."""

    page: MarkedPage
    blocks: Blocks
    rows: torch.Tensor  # (blocks, features)
    marked: torch.Tensor  # share of the words of each block that are marked
    words: torch.Tensor


def main() -> None:
    """Train, report on the folds left out, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folds", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=PACKAGED)
    given = parser.parse_args()
    out = {int(fold) for fold in given.folds.split(",") if fold}
    torch.manual_seed(given.seed)
    chance = random.Random(given.seed)  # noqa: S311
    pages = [page for page in marked_pages(_marked(given.data)) if not page.is_test]
    taught = [page for page in pages if page.fold not in out]
    examples = [*filter(None, map(_example, _all(taught, given.data, chance)))]
    network = trained(examples, chance)
    if out:
        held = [*filter(None, (_example(page) for page in pages if page.fold in out))]
        report(network, held)
    with given.out.open("wb") as file:
        np.savez_compressed(file, **network.weights())  # type: ignore[arg-type]


def _marked(data: Path) -> Path:
    return data / "main-text" / "pages.jsonl.zst"


def _all(pages: list[MarkedPage], data: Path, chance: random.Random) -> Iterator[MarkedPage]:
    yield from pages
    for page in pages:
        if chance.random() < MADE:
            yield article(page, chance)
        if chance.random() < MADE / 2:
            yield documentation(page, chance)
    yield from _home_pages(data / "webkb" / "html.tar.zst")
    yield from _encyclopedia(data / "schools-wiki" / "html.tar.zst")


# ----------------------------------------------------------------------- pages


def _home_pages(path: Path) -> Iterator[MarkedPage]:
    """Pages of webkb; all of their text is marked."""
    for name, body in _files(path, lambda name: "webkb" in name, 27, HOME_PAGES):
        page = html.decode(body.split(b"\n\n", 1)[-1])
        tree = html.tree(page.encode())
        if tree.body is not None:
            yield MarkedPage(name, page, tree.body.text(separator=" "))


def _encyclopedia(path: Path) -> Iterator[MarkedPage]:
    """Articles; their title and what their frame surrounds is marked."""
    for name, body in _files(path, lambda name: "/wp/" in name and "htm" in name, 30, ARTICLES):
        page = html.decode(body)
        tree = html.tree(body)
        title, inside = tree.css_first("h1"), tree.css_first("#bodyContent")
        if title is not None and inside is not None:
            inside.strip_tags(["script", "style", "#siteSub"])
            yield MarkedPage(name, page, title.text() + "\n" + inside.text(separator=" "))


def _files(
    path: Path, wanted: Callable[[str], bool], step: int, count: int
) -> Iterator[tuple[str, bytes]]:
    """Every so many of the wanted files of an archive."""
    met = 0
    with path.open("rb") as file:
        stream = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                if not member.isfile() or not wanted(member.name):
                    continue
                met += 1
                if met % step == 0 and (content := archive.extractfile(member)):
                    yield member.name, content.read()
                if met == step * count:
                    return


def _example(page: MarkedPage) -> Example | None:
    tree = html.tree(page.html.encode())
    blocks = read_blocks(tree)
    if not blocks.texts:
        return None
    marked, words = labels(blocks.texts, page.text)
    rows = torch.from_numpy(features(blocks, html.title_of(tree)))
    return Example(page, blocks, rows, torch.from_numpy(marked), torch.from_numpy(words))


def labels(blocks: Sequence[str], text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Of each block: the share of its words that are in the marked text, and how many count."""
    wanted = shingles(text)
    lines = {" ".join(line.split()) for line in text.splitlines()}
    words = [words_of(block) for block in blocks]
    flat = [word for some in words for word in some]
    found = np.zeros(len(flat), np.float32)
    for i in range(max(1, len(flat) - SHINGLE + 1)):
        if tuple(flat[i : i + SHINGLE]) in wanted:
            found[i : i + SHINGLE] = 1
    counts = np.array([len(some) for some in words], np.float32)
    ends = np.cumsum(counts).astype(int)
    sums = np.concatenate([[0], np.cumsum(found)])
    marked = (sums[ends] - sums[ends - counts.astype(int)]) / np.maximum(counts, 1)
    for i, block in enumerate(blocks):
        if counts[i] < SHINGLE and marked[i] < 0.5 and block in lines:
            counts[i] = 0  # may be marked here or elsewhere
    return marked.astype(np.float32), counts


# ----------------------------------------------------------------------- network


class Learner(nn.Module):
    """The network of `honeyguide.web.main_text`, with dropout."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, HIDDEN)
        self.pool = nn.Linear(2 * HIDDEN, HIDDEN)
        self.near = nn.Conv1d(HIDDEN, HIDDEN, 5, padding=2)
        self.far = nn.Conv1d(HIDDEN, HIDDEN, 5, padding=6, dilation=3)
        self.last = nn.Linear(3 * HIDDEN, 1)
        self.drop = nn.Dropout(DROPOUT)

    def forward(self, rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Scores of blocks, of (pages, blocks, features) and (pages, blocks, 1)."""
        block = functional.relu(self.first(rows)) * mask
        weights = (rows[..., :1].exp() - 1) * mask
        average = (block * weights).sum(1, keepdim=True) / weights.sum(1, keepdim=True)
        page = self.pool(torch.cat([average, block.amax(1, keepdim=True)], -1))
        block = self.drop(block)
        near = self.drop(functional.relu(_over(self.near, block) + page) * mask)
        far = self.drop(functional.relu(_over(self.far, near)) * mask)
        scores: torch.Tensor = self.last(torch.cat([block, near, far], -1)).squeeze(-1)
        return scores

    def weights(self) -> dict[str, NDArray[np.float16]]:
        """The weights as `honeyguide.web.main_text.Network` has them."""
        layers = {name: getattr(self, name) for name in ("first", "pool", "near", "far", "last")}
        return {name: _matrix(layer) for name, layer in layers.items()}


def _over(layer: nn.Conv1d, rows: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = layer(rows.transpose(1, 2)).transpose(1, 2)
    return found


def _matrix(layer: Any) -> NDArray[np.float16]:
    weight = layer.weight.detach().numpy()
    if weight.ndim == 3:  # (out, in, place) of a convolution
        weight = weight.transpose(0, 2, 1).reshape(len(weight), -1)
    found: NDArray[np.float16] = np.vstack([weight.T, layer.bias.detach().numpy()]).astype("f2")
    return found


def trained(examples: list[Example], chance: random.Random) -> Learner:
    """A network that learnt from the examples."""
    network = Learner(examples[0].rows.shape[1])
    optimizer = torch.optim.AdamW(network.parameters(), RATE, weight_decay=DECAY)
    steps = EPOCHS * (len(examples) // BATCH + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for epoch in range(EPOCHS):
        losses = []
        for batch in _batches(examples, chance):
            loss = _loss(network, batch, chance)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: loss {np.mean(losses):.4f}", flush=True)  # noqa: T201
    return network.eval()


def _batches(examples: list[Example], chance: random.Random) -> list[list[Example]]:
    """Pages of about the same number of blocks together."""
    by_size = sorted(examples, key=lambda example: len(example.rows) + 80 * chance.random())
    batches = [by_size[i : i + BATCH] for i in range(0, len(by_size), BATCH)]
    chance.shuffle(batches)
    return batches


def _loss(network: Learner, batch: list[Example], chance: random.Random) -> torch.Tensor:
    """Cross-entropy and 1 - F1, over words, of each page alike."""
    length = max(len(example.rows) for example in batch)
    rows = torch.stack([_padded(_masked(e.rows, chance), length) for e in batch])
    marked = torch.stack([_padded(e.marked, length) for e in batch])
    words = torch.stack([_padded(e.words, length) for e in batch])
    mask = torch.stack([_padded(torch.ones(len(e.rows), 1), length) for e in batch])
    scores = network(rows, mask)
    share = words + 0.5 * (words > 0)
    share = share / share.sum(1, keepdim=True).clamp(min=1)
    even = words.clamp(max=40) ** 0.5
    even = even / even.sum(1, keepdim=True).clamp(min=1)
    wrong = functional.binary_cross_entropy_with_logits(scores, marked, reduction="none")
    sure = torch.sigmoid(scores)
    both = (share * sure * marked).sum(1)
    f1 = 2 * both / ((share * sure).sum(1) + (share * marked).sum(1) + 1e-6)
    return (wrong * (share + even) / 2).sum(1).mean() + 1 - f1.mean()


def _padded(values: torch.Tensor, length: int) -> torch.Tensor:
    padding = (0, 0) * (values.ndim - 1) + (0, length - len(values))
    return functional.pad(values, padding)


def _masked(rows: torch.Tensor, chance: random.Random) -> torch.Tensor:
    """The rows, at times without bits of class names: those of another site may say nothing."""
    drawn = chance.random()
    if drawn > 2 * NAMELESS:
        return rows
    names = torch.zeros(rows.shape[1], dtype=torch.bool)
    for start in range(rows.shape[1] - 3 * 64, rows.shape[1], 64):
        names[start + TAG_BITS : start + TAG_BITS + NAME_BITS] = True
    if drawn > NAMELESS:
        names &= torch.rand(len(names)) < 0.4
    return torch.where(names, 0.0, rows)


def report(network: Learner, held: list[Example]) -> None:
    """Print how well the pages of other sites are read."""
    scores = [(example.page.is_article, _score(network, example)) for example in held]
    for name, kinds in (("all", (True, False)), ("articles", (True,)), ("others", (False,))):
        found = mean([score for kind, score in scores if kind in kinds])
        print(f"{name}: {found.precision:.4f} {found.recall:.4f} F1 {found.f1:.4f}")  # noqa: T201


def _score(network: Learner, example: Example) -> Score:
    with torch.no_grad():
        sure = network(example.rows[None], torch.ones(1, len(example.rows), 1))[0] > 0
    kept = [block for block, is_main in zip(example.blocks.texts, sure, strict=True) if is_main]
    return score("\n".join(kept), example.page.text)


if __name__ == "__main__":
    main()
