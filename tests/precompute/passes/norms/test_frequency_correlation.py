"""Rank correlations with word frequency, and means by token type, against the bare model.

The small corpus has all that means can go wrong by: masks of the run and of its own, two segments,
a text without commas and periods, and sequences of unequal lengths.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from duckdb import DuckDBPyConnection

from analysis.statistics.mixing import ratio_frequency_correlation
from precompute.jobs.runner import run_local
from precompute.run import run
from precompute.store.check import faults
from precompute.store.show import every_table
from tests.outermost.bare_model import POST_NORM, BareModel
from tests.outermost.corpus import Corpus, read_corpus
from tests.outermost.mixing import of_scope
from tests.outermost.norms import of_tokens
from tests.reference.norms import frequency_correlation as reference
from tests.small_store import manifest_of
from tests.small_store import request as asked_for

STATISTICS = ["frequency_correlation", "ratio_frequency_correlation", "token_type_mixing"]
ENTRIES = (
    {"text_a": "The cat sat, the dog ran.", "text_b": "The mat, the mat."},
    {"text": "the dog ran the cat"},
    {"tokens": ["[CLS]", "the", "[MASK]", "cat", ",", "[SEP]", "dog", "[MASK]", "[SEP]"]},
    {"text_a": "Dog, cat.", "text_b": "Cat sat. The dog ran, ran, ran; the cat sat."},
    {"text": "Sat, sat, sat."},
)
RANKED = {"the": 1, "cat": 2, ",": 3, "dog": 4, "[MASK]": 5}
"""The words of a list of frequencies; whatever it lacks comes after its last."""
SCOPES = ("attn_w_res", *POST_NORM)


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    """A finished file of the corpus, with a list of frequencies."""
    folder = tmp_path_factory.mktemp("frequency")
    asked = asked_for(folder, mask_rate=0.2, statistics=STATISTICS)
    corpus, frequencies = folder / "texts.jsonl", folder / "frequencies.txt"
    corpus.write_text("\n".join(map(json.dumps, ENTRIES)), encoding="utf-8")
    vocabulary = json.loads(Path(asked.model, "tokenizer.json").read_text())["model"]["vocab"]
    lines = (f"{rank} {1000 - rank} {vocabulary[word]}" for word, rank in RANKED.items())
    frequencies.write_text("\n".join(lines), encoding="utf-8")
    run(replace(asked, corpus=str(corpus), frequencies=frequencies), run_local)
    return asked.output


@pytest.fixture(scope="module")
def store(path) -> Iterator[DuckDBPyConnection]:
    with duckdb.connect(str(path), read_only=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def bare(store, path) -> Corpus:
    return read_corpus(store, BareModel(path.parent / "model-bert"))


@pytest.fixture(scope="module")
def slow(bare) -> pd.DataFrame:
    """Every token with its mean weight, length and ratios over layers and heads."""
    ratios = {
        scope: [
            ratio
            for layers in bare.parts
            for ratio in np.mean([of_scope(layer, scope) for layer in layers], axis=0)
        ]
        for scope in SCOPES
    }
    tokens = of_tokens(bare).assign(**ratios)
    names = bare.model.tokenizer.convert_ids_to_tokens(tokens["id"].tolist())
    return tokens.assign(token=names, is_masked=[name == "[MASK]" for name in names])


def _expected(slow: pd.DataFrame, quantity: str, source: str, special: bool) -> tuple[int, float]:
    words = slow[~slow["is_masked"]]
    counts = words["token"].value_counts()
    of_corpus = reference.frequency_ranks(counts.tolist())
    ranks = (
        dict(zip(counts.index, of_corpus, strict=True))
        if source == "corpus"
        else {token: RANKED.get(token, max(RANKED.values()) + 1) for token in counts.index}
    )
    chosen = words[~words["token"].isin(["[CLS]", "[SEP]"]) | special]
    rho = reference.rank_correlation(
        [ranks[token] for token in chosen["token"]], chosen[quantity].tolist()
    )
    return len(chosen), rho


@pytest.mark.parametrize("source", ["corpus", "file"])
@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize(
    ("table", "column", "names"),
    [
        ("frequency_correlation", "quantity", {"attention", "value_norm"}),
        ("ratio_frequency_correlation", "scope", set(SCOPES)),
    ],
)
def test_quantities_are_ranked_as_the_bare_model_has_them(
    store, slow, source, special, table, column, names
):
    rows = store.execute(
        f"select {column}, n, spearman, low, high from {table} "
        "where source = $1 and special_tokens = $2",
        [source, special],
    ).fetchall()
    assert {row[0] for row in rows} == names
    for name, n, rho, low, high in rows:
        assert (n, rho) == pytest.approx(_expected(slow, name, source, special), abs=1e-6)
        assert (low, high) == (None, None), "of fewer than ten sequences"


def test_the_corpus_has_what_could_go_wrong(slow, bare):
    """Without it, a masked word or a special one in the wrong place would change nothing."""
    masked = slow["is_masked"]
    assert masked.sum() > 4
    assert all(any(map(bare.is_masked, reading.ids)) for reading in bare.readings)
    assert len(bare.readings) == len(ENTRIES)
    with_masks = slow.assign(is_masked=False)
    without_sep = slow.assign(token=slow["token"].replace("[SEP]", "sep"))
    for wrong in (with_masks, without_sep):
        for quantity in ("attention", "value_norm", "attn_res_ln"):
            n, rho = _expected(wrong, quantity, "corpus", special=False)
            assert n > _expected(slow, quantity, "corpus", special=False)[0]
            assert abs(rho - _expected(slow, quantity, "corpus", special=False)[1]) > 1e-3


def test_every_token_has_the_ratio_of_the_bare_model(store, slow):
    for scope in SCOPES:
        rows = store.execute(
            "select mean from token_mixing_ratio where scope = $1 order by seq, pos", [scope]
        ).fetchall()
        assert [mean for (mean,) in rows] == pytest.approx(slow[scope].tolist(), abs=1e-5)


def test_words_are_drawn_without_masks_and_with_their_ranks(store, slow):
    counts = slow[~slow["is_masked"]]["token"].value_counts()
    ratios = slow.groupby("token")["attn_res"].mean()
    for special in (True, False):
        rows = ratio_frequency_correlation.words(
            store, scope="attn_res", special=special, limit=1000
        )
        assert set(rows["token"]) == set(counts.index) - (set() if special else {"[CLS]", "[SEP]"})
        row: Any
        for row in rows.itertuples():
            assert row.n == counts[row.token]
            assert row.rank == 1 + (counts > row.n).sum()
            assert row.ratio == pytest.approx(ratios[row.token], abs=1e-5)
    few = ratio_frequency_correlation.words(store, scope="attn_res", special=True, limit=3)
    assert len(few) == 3
    assert few["rank"].is_monotonic_increasing


def test_a_file_that_counts_other_tokens_is_faulty(path, tmp_path):
    copy = Path(shutil.copy(path, tmp_path / "changed.duckdb"))
    with duckdb.connect(str(copy)) as store:
        store.execute("update stored.frequency_correlation set n = n + 1 where special_tokens")
        store.execute(
            "delete from stored.token_mixing_ratio where pos = 0 and scope = 'attn_w_res'"
        )
        for table in ("frequency_correlation", "token_mixing_ratio"):
            store.execute(manifest_of(table))
    messages = "\n".join(faults(copy, every_table()))
    assert "break the law that frequencies are of the tokens that are not masked." in messages
    assert "break the law that every scope has the mixing ratio of every token." in messages
