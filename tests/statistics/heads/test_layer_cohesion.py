"""Distances within and between layers, and their permutation test."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from analysis.measures.heads.permutation_tests import PERMUTATIONS, layer_cohesions

Matrix = list[list[float]]


def means(distances: Matrix, layers: list[int], layer: int | None) -> tuple[float, float]:
    """Mean distance of two heads of one layer, and of two heads of different layers.

    With a layer given, one head of every pair is in it.
    """
    within, between = [], []
    for one in range(len(layers)):
        for other in range(one):
            if layer is not None and layer not in (layers[one], layers[other]):
                continue
            same = layers[one] == layers[other]
            (within if same else between).append(distances[one][other])
    return sum(within) / len(within), sum(between) / len(between)


def difference(distances: Matrix, layers: list[int], layer: int | None) -> float:
    within, between = means(distances, layers, layer)
    return between - within


def exact_p(distances: Matrix, layers: list[int], layer: int | None) -> float:
    """Share of all ways to deal the layers that give as large a difference."""
    actual = difference(distances, layers, layer)
    deals = set(permutations(layers))  # each of them comes about in equally many ways
    dealt = [difference(distances, list(deal), layer) for deal in deals]
    return sum(other >= actual - 1e-12 for other in dealt) / len(dealt)


LAYERS = np.repeat([1, 2, 3], 2)
each_layer = pytest.mark.parametrize("layer", [None, 1, 3])


def drawn(seed: int, n: int) -> np.ndarray:
    return squareform(pdist(np.random.default_rng(seed).normal(size=(n, 3))))


@each_layer
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1000))
def test_few_heads_are_dealt_in_every_way_as_the_twin_deals_them(layer, seed):
    distances = drawn(seed, 6)
    cohesion = layer_cohesions(distances, LAYERS, seed=0).get(layer)
    assert cohesion is not None
    within, between = means(distances.tolist(), LAYERS.tolist(), layer)
    assert (cohesion.within, cohesion.between) == pytest.approx((within, between))
    assert cohesion.difference == pytest.approx(between - within)
    assert cohesion.p_value == pytest.approx(exact_p(distances.tolist(), LAYERS.tolist(), layer))
    assert cohesion.n_permutations == 720


@each_layer
def test_many_heads_are_dealt_at_random_and_the_seed_decides_how(layer):
    distances, layers = drawn(7, 12), np.repeat([1, 2, 3], 4)
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
    distances = drawn(1, len(layers))
    assert layer_cohesions(distances, np.array(layers), seed=0).get(layer) is None
