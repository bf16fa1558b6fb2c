"""Preferred offsets of heads, and their agreement between scores and attention."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from analysis.measures.bootstrap import redraws
from analysis.measures.positions.offset_agreement import (
    agreement,
    chance_agreement,
    layer_parts,
    preferred_offsets,
    rank_correlation,
)
from analysis.statistics.positions.attention import COUNTINGS, MIN_DEPENDENCES
from tests.reference import correlation_parts as parts_twin
from tests.statistics.positions.turned_layers import tuples

OFFSETS = np.arange(-3, 4)


@pytest.mark.parametrize(
    ("values", "offset"),
    [
        ([1, 0, 0, 0, 0, 0, 2], 3),
        ([1, 0, 1, 0, 0, 0, 1], -1),
        ([0, 0, 5, 0, 5, 0, 0], -1),
        ([4, 4, 4, 4, 4, 4, 4], 0),
        ([-9, -8, -7, -6, -5, -4, -5], 2),
    ],
)
def test_of_equal_values_the_nearest_is_preferred_and_then_the_left(values, offset):
    assert preferred_offsets(np.array([values], dtype=float), OFFSETS).tolist() == [offset]


def test_a_causal_model_prefers_only_what_it_sees():
    assert preferred_offsets(np.array([[0.0, 3.0, 1.0]]), np.array([-2, -1, 0])).tolist() == [-1]


PAIRS = st.integers(2, 12).flatmap(
    lambda n: st.tuples(*2 * [st.lists(st.integers(-4, 4), min_size=n, max_size=n)])
)


def _spearman(scores, attention):
    """None if either side is constant."""
    if len(set(scores)) == 1 or len(set(attention)) == 1:
        return None
    return pd.Series(scores).corr(pd.Series(attention), method="spearman")


def _chance(scores, attention):
    """Σ_t p(t) q(t) over the offsets that occur."""
    n = len(scores)
    return sum(scores.count(t) / n * attention.count(t) / n for t in set(scores))


@given(PAIRS)
def test_numbers_over_heads_are_those_of_counting(pair):
    scores, attention = map(np.array, pair)
    same = (scores == attention).mean()
    assert agreement(scores, attention, seed=0).value == pytest.approx(same)
    assert chance_agreement(scores, attention) == pytest.approx(_chance(*pair))
    expected, found = _spearman(*pair), rank_correlation(scores, attention, seed=0)
    if expected is None:
        assert np.isnan(found).all()
    else:
        assert found.value == pytest.approx(expected, abs=1e-9)


def test_intervals_are_the_percentiles_of_resampled_heads():
    draw = np.random.default_rng(0)
    scores = draw.integers(-3, 4, size=15)
    attention = np.where(draw.random(15) < 0.5, scores, draw.integers(-3, 4, size=15))
    of_draws = []
    for counts in redraws(np.arange(15), seed=4).weights.astype(int):
        sides = [np.repeat(offsets, counts) for offsets in (scores, attention)]
        of_draws.append(((sides[0] == sides[1]).mean(), _spearman(*sides)))
    expected = np.quantile(np.array(of_draws), [0.025, 0.975], axis=0)
    for place, measure in enumerate((agreement, rank_correlation)):
        found = measure(scores, attention, seed=4)
        np.testing.assert_allclose([found.low, found.high], expected[:, place], atol=1e-9)


def test_fewer_than_ten_heads_have_no_interval():
    offsets = np.arange(9)
    found = agreement(offsets, offsets, seed=0)
    assert np.isnan([found.low, found.high]).all()


def test_offsets_that_are_all_the_same_cannot_be_ranked_but_agree_or_not():
    same, other = np.array([-1, -1, -1]), np.array([-1, 2, 0])
    assert np.isnan(rank_correlation(same, other, seed=0)).all()
    assert agreement(same, other, seed=0).value == pytest.approx(1 / 3)
    assert chance_agreement(same, other) == pytest.approx(1 / 3)


def test_parts_add_up_and_shifts_of_whole_layers_are_between_them():
    """Within every layer the offsets go against each other; layers differ in both alike."""
    layers, heads = np.indices((12, 5)).reshape(2, -1)
    scores, attention = 10 * layers + heads, 10 * layers - heads
    within, between = layer_parts(scores, attention, layers, seed=0)
    assert within.spearman == pytest.approx(-1)
    assert within.high < 0 < between.low
    found = rank_correlation(scores, attention, seed=0)
    assert within.contribution + between.contribution == pytest.approx(found.value)
    ranks = [rankdata(offsets).tolist() for offsets in (scores, attention)]
    slow = parts_twin.parts(ranks, [(int(layer),) for layer in layers])
    assert [part[:2] for part in (within, between)] == [pytest.approx(part) for part in slow]


def test_agreement_is_counted_over_the_heads_that_depend_enough(position_store):
    heads = position_store.execute("from head_offset").df()
    for counting, columns in COUNTINGS.items():
        for least in MIN_DEPENDENCES:
            agreement = position_store.execute(
                "from offset_agreement where counting = ? and min_dependence = ? order by layer",
                [counting, least],
            ).df()
            chosen = heads[heads["dependence"] >= least].dropna(subset=list(columns))
            groups = {layer: of for layer, of in chosen.groupby("layer") if len(of) >= 2}
            assert agreement["layer"].dropna().tolist() == list(groups)
            everywhere = len(chosen) >= 2
            assert agreement["layer"].isna().sum() == everywhere
            for row, of in zip(
                tuples(agreement), [*groups.values(), *[chosen] * everywhere], strict=True
            ):
                sides = [of[name].tolist() for name in columns]
                assert row.n_heads == len(of)
                assert row.agreement == pytest.approx(
                    np.mean([one == other for one, other in zip(*sides, strict=True)])
                )
                assert row.chance == pytest.approx(_chance(*sides))
                expected = _spearman(*sides)
                if expected is None:
                    assert np.isnan(row.spearman)
                else:
                    assert row.spearman == pytest.approx(expected)
