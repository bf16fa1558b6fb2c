"""Rank correlations with word frequency, by two ways of adding up, and laws of what is counted."""

from unittest.mock import patch

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from analysis.measures.correlation_parts import single_units
from analysis.measures.norms.frequency_correlation import rank_correlation
from analysis.statistics.base import correlations
from analysis.statistics.base.columns import named, number
from analysis.statistics.base.correlations import with_frequency
from analysis.statistics.norms import HEAD_TOKEN
from precompute.store.check import faults
from tests.small_store import build_store, manifest_of
from tests.statistics.fits import made, store_of

TOKENS = 30_000


def test_a_file_that_counts_other_tokens_is_faulty(tmp_path):
    path = build_store(
        tmp_path, statistics=["ratio_frequency_correlation", "frequency_correlation"]
    )
    with duckdb.connect(str(path)) as store:
        store.execute("update stored.frequency_correlation set n = n + 1 where special_tokens")
        store.execute(
            "delete from stored.token_mixing_ratio where pos = 0 and scope = 'attn_w_res'"
        )
        for table in ("frequency_correlation", "token_mixing_ratio"):
            store.execute(manifest_of(table))
    messages = "\n".join(faults(path))
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
    for frame in both:
        assert frame.loc[frame["of"] == "flat", "spearman"].isna().all()
    of_value = both[0][both[0]["of"] == "value"]
    assert of_value["spearman"].abs().max() > 0.25
    assert of_value["source"].tolist() == ["corpus", "corpus", "file", "file"]
    tokens = _tokens()
    counts = tokens["token_id"].map(-tokens["token_id"].value_counts())
    ranks = {"corpus": counts, "file": tokens["token_id"] // 3 + 1}
    is_special = tokens["token_type"] == "cls"
    for row in of_value.itertuples():
        chosen = ~is_special | row.special_tokens
        sides = ranks[row.source][chosen], tokens["value"].astype(np.float32)[chosen]
        assert (row.n, row.spearman) == (chosen.sum(), pytest.approx(spearmanr(*sides)[0]))


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
