"""Parts of a correlation add up to it, and each level has its own sign."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from analysis.measures.bootstrap import LEAST_UNITS, redraws
from analysis.measures.correlation_parts import (
    Units,
    correlation_parts,
    moments,
    single_units,
)
from tests.reference import correlation_parts as twin

ROWS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 3), st.integers(1, 4)),
    min_size=2,
    max_size=30,
)
"""Two values, layer and head."""


def _split(first, second, layers, heads):
    """The three parts within heads, between heads of a layer and between layers."""
    names, of_row = np.unique(np.stack([layers, heads]), axis=1, return_inverse=True)
    _, of_head = np.unique(names[0], return_inverse=True)
    ranks = [rankdata(values) for values in (first, second)]
    n_layers = int(of_head.max()) + 1
    return correlation_parts(
        moments(ranks, np.ones(len(first)), of_row.ravel()),
        (of_head,),
        (*[single_units(names.shape[1], seed=0)] * 2, single_units(n_layers, seed=0)),
    )


@given(ROWS)
def test_the_parts_add_up_and_are_those_of_the_slow_twin(rows):
    first, second, layers, heads = np.array(rows, dtype=float).T
    assume(np.ptp(first) > 0 and np.ptp(second) > 0)
    parts = _split(first, second, layers, heads)
    whole = spearmanr(first, second)[0]
    assert sum(part.contribution for part in parts) == pytest.approx(whole, abs=1e-9)
    ranks = [rankdata(values).tolist() for values in (first, second)]
    slow = twin.parts(ranks, list(zip(layers, heads, strict=True)))
    for part, (contribution, own) in zip(parts, slow, strict=True):
        assert part.contribution == pytest.approx(contribution, abs=1e-9)
        assert part.spearman == pytest.approx(np.nan if own is None else own, abs=1e-6, nan_ok=True)


def _heads(n_layers=12, n_heads=4, n=60):
    layers, heads, values = np.indices((n_layers, n_heads, n)).reshape(3, -1)
    return layers, heads, values


def test_a_planted_paradox_has_both_signs():
    """Negative in every head, positive between heads of a layer, negative between layers."""
    layers, heads, values = _heads()
    drawn = np.random.default_rng(0)
    inside = drawn.normal(size=len(values))
    first = inside + 20.0 * heads + 500.0 * layers
    second = -inside + 0.1 * drawn.normal(size=len(values)) + 20.0 * heads - 500.0 * layers
    within, between_heads, between_layers = _split(first, second, layers, heads)
    assert within.high < 0 < between_heads.low
    assert between_layers.high < 0
    whole = spearmanr(first, second)[0]
    assert whole == pytest.approx(between_layers.contribution, abs=0.02)
    assert abs(within.contribution) < 0.01
    assert within.spearman < -0.9


def test_a_level_of_few_has_no_interval():
    for n_layers in (LEAST_UNITS - 1, LEAST_UNITS):
        layers, heads, _ = _heads(n_layers)
        first, second = np.random.default_rng(0).normal(size=(2, len(layers)))
        parts = _split(first + layers, second + heads, layers, heads)
        within, between_heads, between_layers = parts
        assert not np.isnan([within.low, between_heads.low]).any()
        assert np.isnan(between_layers.low) == (n_layers < LEAST_UNITS)


def test_groups_that_belong_together_are_redrawn_together():
    """Windows of one text, which no redraw takes apart: all of a text counts, or nothing of it."""
    drawn, groups = np.random.default_rng(0), np.repeat(np.arange(40), 25)
    of_text = np.arange(40) // 4
    slopes = np.where(np.arange(10) % 2, 1.0, -1.0)[of_text][groups]
    first = drawn.normal(size=len(groups))
    second = slopes * first + 0.1 * drawn.normal(size=len(groups))
    ranks = [rankdata(values) for values in (first, second)]
    of_groups = moments(ranks, np.ones(len(groups)), groups)
    apart = single_units(40, seed=0)
    together = Units(redraws(np.arange(10), seed=0), of_text)
    (by_group, _), (by_text, _) = (
        correlation_parts(of_groups, redrawn=(units,)) for units in (apart, together)
    )
    assert by_text.spearman == by_group.spearman
    assert by_text.high - by_text.low > 1.5 * (by_group.high - by_group.low)
