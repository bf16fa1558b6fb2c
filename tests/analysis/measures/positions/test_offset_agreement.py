import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from analysis.measures.bootstrap import redraws
from analysis.measures.positions.offset_agreement import (
    agreement,
    chance_agreement,
    layer_parts,
    rank_correlation,
)
from tests.reference import correlation_parts as parts_twin
from tests.reference.positions import offset_agreement as reference

PAIRS = st.integers(2, 12).flatmap(
    lambda n: st.tuples(*2 * [st.lists(st.integers(-4, 4), min_size=n, max_size=n)])
)


@given(PAIRS)
def test_numbers_over_heads_are_those_of_the_slow_twin(pair):
    scores, attention = map(np.array, pair)
    assert agreement(scores, attention, seed=0).value == pytest.approx(reference.agreement(*pair))
    assert chance_agreement(scores, attention) == pytest.approx(reference.chance(*pair))
    expected, found = reference.spearman(*pair), rank_correlation(scores, attention, seed=0)
    if expected is None:
        assert np.isnan(found).all()
    else:
        assert found.value == pytest.approx(expected, abs=1e-9)


def test_intervals_are_the_percentiles_of_resampled_heads():
    draw = np.random.default_rng(0)
    scores = draw.integers(-3, 4, size=15)
    attention = np.where(draw.random(15) < 0.5, scores, draw.integers(-3, 4, size=15))
    of_draws = []
    for counts in redraws(np.arange(15), seed=4).weights:
        sides = [reference.drawn(offsets.tolist(), counts) for offsets in (scores, attention)]
        of_draws.append((reference.agreement(*sides), reference.spearman(*sides)))
    expected = np.quantile(np.array(of_draws, dtype=float), [0.025, 0.975], axis=0)
    for place, measure in enumerate((agreement, rank_correlation)):
        found = measure(scores, attention, seed=4)
        np.testing.assert_allclose([found.low, found.high], expected[:, place], atol=1e-9)


def test_heads_that_attend_where_they_match_agree_wholly():
    offsets = np.array([-1, 1, -2, 0, 3])
    assert agreement(offsets, offsets, seed=0).value == 1
    twice = np.tile(offsets, 2)
    assert agreement(twice, twice, seed=0) == (1, 1, 1)
    assert rank_correlation(offsets, offsets, seed=0).value == pytest.approx(1)
    assert chance_agreement(offsets, offsets) == pytest.approx(1 / 5)


def test_fewer_than_ten_heads_have_no_interval():
    offsets = np.arange(9)
    found = agreement(offsets, offsets, seed=0)
    assert np.isnan([found.low, found.high]).all()


def test_shuffled_offsets_agree_about_as_often_as_chance():
    draw = np.random.default_rng(1)
    offsets = draw.choice([-1, 1, -2, 0], p=[0.5, 0.3, 0.1, 0.1], size=2000)
    found = agreement(offsets, draw.permutation(offsets), seed=0)
    assert found.low < chance_agreement(offsets, offsets) < found.high
    assert found.value == pytest.approx(0.36, abs=0.04)


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
