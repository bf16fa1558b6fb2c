"""Rank correlations with word frequency against the bare model, and by two ways of adding up.

The small corpus has all that means can go wrong by: masks of the run and of its own, two segments,
a text without commas and periods, and sequences of unequal lengths.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import duckdb
import numpy as np
import pandas as pd
import pytest
from duckdb import DuckDBPyConnection

from analysis.measures.correlation_parts import single_units
from analysis.measures.norms.frequency_correlation import rank_correlation
from analysis.statistics.base import correlations
from analysis.statistics.base.columns import named, number
from analysis.statistics.base.correlations import with_frequency
from analysis.statistics.norms import HEAD_TOKEN
from precompute.jobs.runner import run_local
from precompute.run import run
from precompute.store.check import faults
from tests.outermost.bare_model import POST_NORM, BareModel
from tests.outermost.corpus import Corpus, read_corpus
from tests.outermost.mixing import of_scope
from tests.outermost.norms import of_tokens
from tests.reference.spearman import spearman
from tests.small_store import manifest_of
from tests.small_store import request as asked_for
from tests.statistics.fits import made, store_of

STATISTICS = ["frequency_correlation", "ratio_frequency_correlation"]
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
TOKENS = 30_000


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
    of_corpus = [1 + int((counts > count).sum()) for count in counts]
    ranks = (
        dict(zip(counts.index, of_corpus, strict=True))
        if source == "corpus"
        else {token: RANKED.get(token, max(RANKED.values()) + 1) for token in counts.index}
    )
    chosen = words[~words["token"].isin(["[CLS]", "[SEP]"]) | special]
    rho = spearman([float(ranks[token]) for token in chosen["token"]], chosen[quantity].tolist())
    assert rho is not None
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


def test_every_token_has_the_ratio_of_the_bare_model(store, slow):
    for scope in SCOPES:
        rows = store.execute(
            "select mean from token_mixing_ratio where scope = $1 order by seq, pos", [scope]
        ).fetchall()
        assert [mean for (mean,) in rows] == pytest.approx(slow[scope].tolist(), abs=1e-5)


def test_a_file_that_counts_other_tokens_is_faulty(path, tmp_path):
    copy = Path(shutil.copy(path, tmp_path / "changed.duckdb"))
    with duckdb.connect(str(copy)) as store:
        store.execute("update stored.frequency_correlation set n = n + 1 where special_tokens")
        store.execute(
            "delete from stored.token_mixing_ratio where pos = 0 and scope = 'attn_w_res'"
        )
        for table in ("frequency_correlation", "token_mixing_ratio"):
            store.execute(manifest_of(table))
    messages = "\n".join(faults(copy))
    assert "break the law that frequencies are of the tokens that are not masked." in messages
    assert "break the law that every scope has the mixing ratio of every token." in messages


def _tokens() -> pd.DataFrame:
    """Frequent words with more of a quantity, some of them special, some of them none of it."""
    drawn = np.random.default_rng(0)
    ids = np.minimum(drawn.zipf(1.3, size=TOKENS), 500)
    value = np.where(drawn.random(TOKENS) < 0.1, 0, drawn.lognormal(size=TOKENS) / ids**0.2)
    texts = np.arange(TOKENS) // 100
    return pd.DataFrame(
        {
            "seq": texts,
            "pos": np.arange(TOKENS) % 100,
            "token_id": ids,
            "token_type": np.where(ids < 2, "cls", "other"),
            "is_masked": False,
            "value": value,
            "flat": 1.0,
        }
    )


@pytest.fixture(scope="module")
def both() -> list[pd.DataFrame]:
    """Found by exact ranks, and by those of bins."""
    numbers = {name: number(name, sql=f"avg({name})") for name in ("value", "flat")}
    table = with_frequency(
        "of_all_tokens",
        of=HEAD_TOKEN,
        rows="all_tokens",
        values=numbers,
        key=named("which", (), name="of"),
    )
    ranks, found = {"file": np.arange(600) // 3 + 1}, []
    for exact in (TOKENS, TOKENS - 1):
        with store_of(all_tokens=_tokens()) as store, patch.object(correlations, "EXACT", exact):
            found.append(made(table, store, frequency_ranks=ranks))
    return found


def test_both_ways_find_the_same_but_for_ties_of_close_values(both):
    one, other = both
    pd.testing.assert_frame_equal(one, other, rtol=0, atol=1e-4)
    assert not both[0].equals(both[1])
    of_value = both[0][both[0]["of"] == "value"]
    assert of_value["spearman"].abs().max() > 0.25
    assert of_value["source"].tolist() == ["corpus", "corpus", "file", "file"]


def test_what_is_the_same_of_all_tokens_has_no_correlation(both):
    for frame in both:
        assert frame.loc[frame["of"] == "flat", "spearman"].isna().all()


def test_the_interval_encloses_and_is_none_for_one_sequence_over_and_over():
    generator = np.random.default_rng(0)
    ranks = generator.integers(1, 12, size=80)
    values = generator.integers(0, 9, size=80) + ranks / 3
    found = rank_correlation(ranks, values, np.arange(80) // 8, single_units(10, seed=0))
    assert found is not None
    assert found.low < found.spearman < found.high
    ranks, values = np.tile([1, 2, 3, 4], 12), np.tile([0.1, 0.3, 0.2, 0.9], 12)
    same = rank_correlation(ranks, values, np.arange(48) // 4, single_units(12, seed=0))
    assert same is not None
    assert (same.low, same.high) == pytest.approx((same.spearman, same.spearman))


def test_texts_that_differ_alone_have_it_all_between_them():
    """Every text repeats one rank and one value; then ranks are shuffled within each text."""
    texts = np.arange(120) // 6
    redrawn = single_units(20, seed=0)
    apart = rank_correlation(texts, 0.5 * texts, texts, redrawn)
    assert apart is not None
    within, between = apart.parts
    assert (within.contribution, between.contribution) == pytest.approx((0, 1), abs=1e-12)
    drawn = np.random.default_rng(0).permuted(np.tile(np.arange(6), (20, 1)), axis=1).ravel()
    paradox = rank_correlation(10 * texts + drawn, texts - 0.01 * drawn, texts, redrawn)
    assert paradox is not None
    within, between = paradox.parts
    assert within.high < 0 < between.low
    assert paradox.spearman == pytest.approx(within.contribution + between.contribution)
