"""Distances of heads: laws, agreement of two of them, their layout, and cohesion of layers."""

from itertools import permutations
from math import log

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata

from analysis.measures.heads.head_distances import head_distances
from analysis.measures.heads.head_map import head_layout
from analysis.measures.heads.permutation_tests import (
    PERMUTATIONS,
    distance_agreement,
    layer_cohesions,
    layer_parts,
)
from analysis.statistics.base.weighing import NORM, WEIGHT
from analysis.statistics.heads.head_distances import (
    HEAD_DISTANCE,
)
from precompute.corpora.sequence import Entry
from precompute.passes import heads as passes
from tests.reference import correlation_parts as twin_of_parts
from tests.tiny import HEADS, LAYERS, tiny_sequences
from tests.tracing import rows_of_table


@pytest.mark.parametrize("is_causal", [False, True])
@settings(deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 9))
def test_a_distance_is_symmetric_bounded_and_nothing_to_oneself(is_causal, seed, n):
    seen = torch.ones(n, n, dtype=torch.bool)
    seen = seen.tril() if is_causal else seen
    scores = torch.from_numpy(3 * np.random.default_rng(seed).normal(size=(4, n, n)))
    distances = head_distances(scores.masked_fill(~seen, -torch.inf).softmax(dim=-1), seen)
    assert np.array_equal(distances, distances.T)
    assert not distances.diagonal().any()
    assert (distances >= 0).all()
    assert (distances <= n * log(2)).all()


def matrix_of(rows: pd.DataFrame, weighing: str) -> np.ndarray:
    """Return mean divergences of a shard's rows."""
    of_weighing = rows[rows["weighing"] == weighing]
    matrix = np.zeros((LAYERS * HEADS,) * 2)
    upper = np.triu_indices(len(matrix))
    matrix[upper] = of_weighing["divergence"] / of_weighing["n_rows"]
    return matrix + matrix.T


def test_few_queries_of_a_long_text_tell_nearly_the_distances_of_all(tiny, monkeypatch):
    """Texts above the budget keep evenly spaced queries, whatever else is in their batch."""
    texts = (
        Entry("line 1", (" ".join(["The cat sat, the dog ran."] * 5),)),
        Entry("line 2", ("Dog.",)),
    )
    long = tiny_sequences(tiny.family, texts)
    n_tokens, short = map(len, long)
    whole = rows_of_table(HEAD_DISTANCE, tiny, long[:1]).to_pandas()
    monkeypatch.setattr(passes, "COMPARED", LAYERS * HEADS * n_tokens * 4 * n_tokens // 2)
    queries = passes.compared_queries(n_tokens, LAYERS * HEADS)
    assert queries == [place * n_tokens // (n_tokens // 2) for place in range(n_tokens // 2)]
    sampled = rows_of_table(HEAD_DISTANCE, tiny, long[:1]).to_pandas()
    assert set(sampled["n_rows"]) == {len(queries)}
    for weighing in (WEIGHT, NORM):
        all_rows, few_rows = matrix_of(whole, weighing), matrix_of(sampled, weighing)
        upper = np.triu_indices(len(all_rows), 1)
        assert few_rows[upper] == pytest.approx(all_rows[upper], rel=0.25)
        assert not np.array_equal(few_rows, all_rows)
        assert np.corrcoef(few_rows[upper], all_rows[upper])[0, 1] > 0.9
    together, alone = (
        rows_of_table(HEAD_DISTANCE, tiny, of).to_pandas() for of in (long, long[1:])
    )
    added = sampled["divergence"] + alone["divergence"]
    assert together["divergence"].to_numpy() == pytest.approx(added.to_numpy(), rel=1e-5, abs=1e-7)
    assert set(together["n_rows"]) == {len(queries) + short}, "a short text keeps all"


def test_one_query_at_least_is_compared_and_short_texts_keep_all():
    assert passes.compared_queries(10**6, 10**4) == [0]
    assert passes.compared_queries(128, 144) == list(range(128))
    assert passes.compared_queries(2048, 270)[:3] == [0, 16, 33]
    assert len(passes.compared_queries(2048, 270)) == 121


def distances(n: int, seed: int) -> np.ndarray:
    """Distances between points of a plane."""
    points = np.random.default_rng(seed).normal(size=(n, 2))
    return np.linalg.norm(points[:, None] - points, axis=-1)


def test_heads_that_are_all_alike_and_two_heads_have_no_correlation():
    same = np.ones((4, 4)) - np.eye(4)
    agreement = distance_agreement(same, distances(4, 0), seed=0)
    assert agreement is not None
    assert np.isnan([agreement.spearman, agreement.p_value]).all()
    assert distance_agreement(distances(2, 0), distances(2, 1), seed=0) is None


def test_the_share_of_orders_within_layers_is_that_of_all_such_orders():
    one, other, layers = distances(6, 3), distances(6, 8), np.repeat([0, 1], 3)
    one[:3, 3:] += 9
    one[3:, :3] += 9
    pairs = np.triu_indices(6, 1)
    joined = [((layers[a], layers[b]),) for a, b in zip(*pairs, strict=True)]
    within = []
    for order in ([*a, *b] for a in permutations(range(3)) for b in permutations(range(3, 6))):
        sides = [one[pairs], other[order][:, order][pairs]]
        within.append(twin_of_parts.parts([rankdata(s).tolist() for s in sides], joined)[0][0])
    expected = sum(part >= within[0] - 1e-9 for part in within) / len(within)
    assert 0.05 < expected < 0.95
    assert layer_parts(one, other, layers, seed=0).p_value == pytest.approx(expected, abs=0.02)


def between(points: np.ndarray) -> np.ndarray:
    return squareform(pdist(points))


def spread_points(seed: int, n: int, dimensions: int) -> np.ndarray:
    return between(np.random.default_rng(seed).normal(size=(n, dimensions)))


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(2, 8))
def test_what_lies_in_a_plane_is_found_there(seed, n):
    distances = spread_points(seed, n, 2)
    layout = head_layout(distances)
    assert layout is not None
    assert layout.stress == pytest.approx(0, abs=1e-3)
    assert between(layout.points) == pytest.approx(distances, abs=0.02)


def test_the_widest_axis_lies_across_and_its_farthest_point_on_the_right():
    distances = between(np.array([[0.0, 0], [1, 0.3], [2, -0.2], [3, 0.1], [9, 0]]))
    layout = head_layout(distances)
    assert layout is not None
    x, y = layout.points.T
    assert x.std() > y.std()
    assert np.cov(x, y)[0, 1] == pytest.approx(0, abs=1e-9)
    for axis in (x, y):
        assert axis.mean() == pytest.approx(0, abs=1e-9)
        assert np.abs(axis).max() == axis.max()
    assert x.argmax() == 4


def test_heads_that_do_not_differ_have_no_stress():
    layout = head_layout(np.zeros((3, 3)))
    assert layout is not None
    assert layout.stress is None
    assert not layout.points.any()
    assert head_layout(np.zeros((1, 1))) is None, "one head has no layout"


each_layer = pytest.mark.parametrize("layer", [None, 1, 3])


def points_apart(seed: int, n: int) -> np.ndarray:
    return squareform(pdist(np.random.default_rng(seed).normal(size=(n, 3))))


@each_layer
def test_many_heads_are_dealt_at_random_and_the_seed_decides_how(layer):
    distances, layers = points_apart(7, 12), np.repeat([1, 2, 3], 4)
    cohesion, again, other = (
        layer_cohesions(distances, layers, seed=seed).get(layer) for seed in (0, 0, 1)
    )
    assert cohesion
    assert other
    assert cohesion == again
    assert cohesion.n_permutations == PERMUTATIONS
    assert cohesion.p_value * (PERMUTATIONS + 1) == pytest.approx(
        round(cohesion.p_value * (PERMUTATIONS + 1))
    )
    assert cohesion.p_value == pytest.approx(other.p_value, abs=0.03)


def test_distances_that_are_all_the_same_are_chance():
    distances = np.full((12, 12), 0.3)
    np.fill_diagonal(distances, 0)
    cohesion = layer_cohesions(distances, np.repeat([1, 2, 3], 4), seed=0).get(None)
    assert cohesion is not None
    assert cohesion.difference == pytest.approx(0, abs=1e-12)
    assert cohesion.p_value == 1


@pytest.mark.parametrize(
    ("layers", "layer"),
    [([1, 1, 1], None), ([1, 2, 3], None), ([1, 1, 2], 2), ([1, 1], 1)],
    ids=["one layer", "layers of one head", "a layer of one head", "one layer by itself"],
)
def test_what_cannot_be_compared_has_no_value(layers, layer):
    distances = points_apart(1, len(layers))
    assert layer_cohesions(distances, np.array(layers), seed=0).get(layer) is None
