"""Sampled pairs: their weights and norms from the traces, and draws that are fair however cut."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from analysis.measures.norms.fair_sample import SAMPLE_SIZE, earliest, sample_priorities
from analysis.statistics import norms
from analysis.token_types import TOKEN_TYPES
from tests.tiny import HEADS, LAYERS
from tests.tracing import rows_of_table


def _from_first(seed: int, n_pairs: tuple[int, int]) -> float:
    """Share of a merged sample that comes from the first of two sequences."""
    drawn = [
        sample_priorities(np.random.default_rng([seed, i]), (1,), np.array([n]))
        for i, n in enumerate(n_pairs)
    ]
    return float((earliest(np.concatenate(drawn, axis=-1)) < SAMPLE_SIZE).mean())


def test_sequences_share_a_sample_in_proportion_to_their_pairs_as_chance_has_it():
    assert np.mean([_from_first(seed, (3000, 1000)) for seed in range(200)]) == pytest.approx(
        0.75, abs=0.01
    )
    shares = [_from_first(seed, (1000, 1000)) for seed in range(400)]
    edges = [-np.inf, 0.45, 0.5, 0.55, np.inf]
    drawn = np.random.default_rng(9).binomial(SAMPLE_SIZE, 0.5, size=100_000) / SAMPLE_SIZE
    expected = np.histogram(drawn, edges)[0] * len(shares) / len(drawn)
    assert chisquare(np.histogram(shares, edges)[0], expected).pvalue > 1e-4


def test_merging_in_any_order_keeps_the_same_pairs_and_none_of_an_empty_stratum():
    drawn = [sample_priorities(np.random.default_rng(i), (1,), np.array([50])) for i in range(3)]

    def kept(parts: list[np.ndarray]) -> set[float]:
        joined = np.concatenate(parts, axis=-1)
        return set(np.take_along_axis(joined, earliest(joined), axis=-1).ravel().tolist())

    first = np.concatenate(drawn[:2], axis=-1)
    step = np.take_along_axis(first, earliest(first), axis=-1)
    assert kept(drawn) == kept(drawn[::-1]) == kept([step, drawn[2]])
    priorities = sample_priorities(np.random.default_rng(0), (2,), np.array([0, 5]))
    assert np.isfinite(priorities).all(axis=1).tolist() == [False, True]


@pytest.fixture(scope="module")
def drawn(tiny, sequences) -> pd.DataFrame:
    return rows_of_table(norms.ATTENTION_NORM_SAMPLE, tiny, sequences).to_pandas()


def test_all_pairs_of_a_type_are_drawn_alike_and_every_head_has_as_many(drawn, tiny, sequences):
    """Each head has its own draw, so a pair with chance 1/n is drawn about as often as others."""
    there: dict[str, list] = {}
    for sequence in sequences:
        for query, key in tiny.layers[0].pairs(len(sequence)).nonzero().tolist():
            kind = TOKEN_TYPES[sequence.token_types[key]]
            there.setdefault(kind, []).append((sequence.index, query, key))
    strata = drawn.groupby(["layer", "head", "token_type"], observed=True).size()
    assert strata.tolist() == [SAMPLE_SIZE] * LAYERS * HEADS * len(there)
    for kind, rows in drawn.groupby("token_type", observed=True):
        found = rows[["seq", "query_pos", "key_pos"]].itertuples(index=False, name=None)
        counts = pd.Series(list(found)).value_counts()
        assert set(counts.index) <= set(there[kind])
        by_pair = counts.reindex(pd.Index(there[kind], tupleize_cols=False), fill_value=0)
        groups = [part for part in np.array_split(by_pair.to_numpy(), 12) if len(part)]
        expected = [len(part) * len(rows) / len(there[kind]) for part in groups]
        assert chisquare([part.sum() for part in groups], expected).pvalue > 1e-4, kind


def test_draws_follow_the_seed_and_not_the_batch(drawn, tiny, sequences):
    columns = ["layer", "head", "token_type", "seq", "query_pos", "key_pos"]
    other = rows_of_table(norms.ATTENTION_NORM_SAMPLE, tiny, sequences, seed=1).to_pandas()
    assert not other[columns].equals(drawn[columns])
    alone = pd.concat(
        rows_of_table(norms.ATTENTION_NORM_SAMPLE, tiny, (sequence,)).to_pandas()
        for sequence in sequences
    )
    first = alone.sort_values("priority").groupby(columns[:3], observed=True).head(SAMPLE_SIZE)
    pd.testing.assert_frame_equal(
        *(
            rows[[*columns, "priority"]].sort_values([*columns, "priority"], ignore_index=True)
            for rows in (first, drawn)
        )
    )
