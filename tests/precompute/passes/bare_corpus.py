"""A small corpus with all that means can go wrong by, and the bare model's numbers of each token.

It has masks of the run and of its own, two segments, a text without commas and periods, and
sequences of unequal lengths.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from precompute.jobs.runner import run_local
from precompute.run import run
from tests.reference.bare_bert import BareLayer, ratios
from tests.reference.norms.head_token import norm
from tests.small_store import request as asked_for

ENTRIES = (
    {"text_a": "The cat sat, the dog ran.", "text_b": "The mat, the mat."},
    {"text": "the dog ran the cat"},
    {"tokens": ["[CLS]", "the", "[MASK]", "cat", ",", "[SEP]", "dog", "[MASK]", "[SEP]"]},
    {"text_a": "Dog, cat.", "text_b": "Cat sat. The dog ran, ran, ran; the cat sat."},
    {"text": "Sat, sat, sat."},
)
RANKED = {"the": 1, "cat": 2, ",": 3, "dog": 4, "[MASK]": 5}
"""The words of a list of frequencies; whatever it lacks comes after its last."""
SCOPES = ("attn_w", "attn_w_res", "attn", "attn_res", "attn_res_ln")
"""Those that the bare model is compared in; the others are in the tests of whole layers."""


@dataclass(frozen=True)
class Token:
    """One place of the corpus, and what the bare model says of it."""

    seq: int
    token: str
    is_masked: bool
    values: dict[str, float]

    @property
    def is_special(self) -> bool:
        return self.token in ("[CLS]", "[SEP]")


@dataclass(frozen=True)
class Bare:
    """The tokens of every sequence, and its layers in the bare model."""

    tokens: dict[int, list[tuple[str, bool]]]
    layers: dict[int, list[BareLayer]]


def build_corpus(folder: Path, statistics: list[str]) -> Path:
    """The path of a finished file of the corpus, with a list of frequencies."""
    asked = asked_for(folder, mask_rate=0.2, statistics=statistics)
    corpus, frequencies = folder / "texts.jsonl", folder / "frequencies.txt"
    corpus.write_text("\n".join(map(json.dumps, ENTRIES)), encoding="utf-8")
    vocabulary = _vocabulary(Path(asked.model))
    lines = (f"{rank} {1000 - rank} {vocabulary[word]}" for word, rank in RANKED.items())
    frequencies.write_text("\n".join(lines), encoding="utf-8")
    run(replace(asked, corpus=str(corpus), frequencies=frequencies), run_local)
    return asked.output


def _vocabulary(model: Path) -> dict[str, int]:
    return json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]


def values_of(layers: list[BareLayer]) -> dict[str, list[float]]:
    """Weight, length and ratios of every token, each the mean over layers (and heads)."""
    places = range(layers[0].attention.shape[-1])
    return {
        "attention": [
            _mean(each.attention[:, :, j].mean().item() for each in layers) for j in places
        ],
        "value_norm": [
            _mean(norm(head[j].tolist()) for each in layers for head in each.vectors)
            for j in places
        ],
        "attn_w": [
            _mean(1 - each.attention[:, i, i].mean().item() for each in layers) for i in places
        ],
        "attn_w_res": [
            _mean((1 - each.attention[:, i, i].mean().item()) / 2 for each in layers)
            for i in places
        ],
        **{
            scope: list(
                map(_mean, zip(*(ratios(getattr(each, name)) for each in layers), strict=True))
            )
            for scope, name in zip(
                SCOPES[2:], ("mixed", "with_residual", "normalised"), strict=True
            )
        },
    }


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
