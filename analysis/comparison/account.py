"""Facts of a file for comparing it with another, and reasons against a comparison."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from jaxtyping import Int

from analysis.statistics.corpus import provenance, run
from analysis.statistics.question import frame_of

_STEP = re.compile(
    r"(?:step|checkpoint|ckpt|iter)s?[-_]?(\d{1,12})(k|m|)(?![a-z0-9])", re.IGNORECASE
)
MASKED = -1
_THOUSANDS = {"": 1, "k": 1000, "m": 1_000_000}
KINDS = ("numbers", "paired", "heads", "head_by_head", "pairs", "training")
"""Kinds of comparison: numbers side by side, sequence by sequence, heads matched, each head with
itself, pairs of tokens, training steps."""


@dataclass(frozen=True)
class Account:
    """One file: its `run` and `provenance` as texts, its tokens in order, its vocabulary.

    `lengths` has seq and n_tokens, `vocabulary` token_id and token. `token_ids` are those of one
    sequence after the other, `MASKED` at places that the file masks.
    """

    facts: dict[str, str]
    lengths: pd.DataFrame
    token_ids: Int[np.ndarray, " token"]
    vocabulary: pd.DataFrame

    @property
    def model(self) -> str:
        """The model's name without its revision, or the step of its training."""
        return training_step(self.facts["model"])[0]


def training_step(name: str) -> tuple[str, int | None]:
    """Split a model's name into its name without revision and its training step. The step stands in
    the name or the revision: `step1000`, `checkpoint-500`, `step_20k`."""
    match = _STEP.search(name)
    rest = name[: match.start()] + name[match.end() :] if match else name
    base = rest.partition("@")[0].rstrip("-_/")
    if not match:
        return base, None
    return base, int(match[1]) * _THOUSANDS[match[2].lower()]


def account(store: DuckDBPyConnection) -> Account:
    """Read the facts, tokens and vocabulary of a file."""
    facts = {str(name): str(value) for name, value in run(store).drop("statistics").items()}
    return Account(
        facts | provenance(store),
        frame_of(store, "select seq, count(*) as n_tokens from token group by seq order by seq"),
        frame_of(
            store, f"select if(is_masked, {MASKED}, token_id) as id from token order by seq, pos"
        )["id"].to_numpy(),
        frame_of(store, "select token_id, token from vocabulary order by token_id"),
    )


def reasons(one: Account, other: Account, kind: str) -> tuple[str, ...]:
    """Return the reasons why two files cannot be compared in one of `KINDS`; empty if they can.

    Numbers are comparable if both files are of texts or both of images. Sequences are compared one
    by one if both files hold the same ones, masked or not; heads as well, if their numbers are
    equal; pairs of tokens if a token is the same in both; steps of one training if nothing else
    differs.
    """
    return tuple(reason for reason in _FORBIDS[kind] if _DIFFERS[reason](one, other))


def same_tokenizer(one: Account, other: Account) -> bool:
    """Return True if every shared vocabulary entry has the same number in both files."""
    by_id = one.vocabulary.merge(other.vocabulary, on="token_id")
    by_token = one.vocabulary.merge(other.vocabulary, on="token")
    same_ids = bool((by_token["token_id_x"] == by_token["token_id_y"]).all())
    return len(by_id) > 0 and same_ids and bool((by_id["token_x"] == by_id["token_y"]).all())


def shared_sequences(one: Account, other: Account) -> np.ndarray:
    """Return the sequences with the same tokens in both files, except at masked places."""
    if one.facts["corpus_sha256"] != other.facts["corpus_sha256"]:
        return np.empty(0, dtype=np.int64)
    both = one.lengths.merge(other.lengths, on=["seq", "n_tokens"])
    if both.empty:
        return np.empty(0, dtype=np.int64)
    ids, other_ids = (
        side.token_ids[np.repeat(side.lengths["seq"].isin(both["seq"]), side.lengths["n_tokens"])]
        for side in (one, other)
    )
    same = (ids == other_ids) | (ids == MASKED) | (other_ids == MASKED)
    starts = both["n_tokens"].cumsum() - both["n_tokens"]
    return both["seq"].to_numpy(dtype=np.int64)[np.logical_and.reduceat(same, starts)]


def same_heads(one: Account, other: Account) -> bool:
    """Return True if head numbers mean the same heads: one model, with equal training status."""
    alike = (*_DEPTH, "n_heads", "random_weights")
    return one.model == other.model and not _differ(*alike)(one, other)


def _differ(*names: str) -> Callable[[Account, Account], bool]:
    """Return a test that is true if any of these facts differs between two files."""
    return lambda one, other: any(one.facts.get(name) != other.facts.get(name) for name in names)


def _shares_nothing(one: Account, other: Account) -> bool:
    """Return True if one corpus was tokenized so differently that no sequence is in both files."""
    is_one_corpus = one.facts["corpus_sha256"] == other.facts["corpus_sha256"]
    return is_one_corpus and not len(shared_sequences(one, other))


_DEPTH = ("n_layers", "without_attention")
"""Facts on which layers there are."""
_DIFFERS: dict[str, Callable[[Account, Account], bool]] = {
    "input": _differ("input"),
    "model": lambda one, other: one.model != other.model,
    "random_weights": _differ("random_weights"),
    "shape": _differ(*_DEPTH, "n_heads"),
    "depth": _differ(*_DEPTH),
    "layer_order": _differ("layer_order"),
    "corpus": _differ("corpus_sha256"),
    "masking": _differ("mask_rate", "seed"),
    "tokenizer": lambda one, other: not same_tokenizer(one, other),
    "sequences": _shares_nothing,
}
_FORBIDS = {
    "numbers": ("input",),
    "paired": ("input", "corpus", "tokenizer", "sequences"),
    "heads": ("input", "shape", "corpus", "tokenizer", "sequences"),
    "head_by_head": (
        *("input", "model", "random_weights", "shape", "corpus", "tokenizer", "sequences"),
    ),
    "pairs": ("input", "depth", "layer_order", "tokenizer"),
    "training": (
        *("input", "model", "random_weights", "shape", "corpus", "masking"),
        *("tokenizer", "sequences"),
    ),
}
