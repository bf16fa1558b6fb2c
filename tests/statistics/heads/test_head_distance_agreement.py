"""Agreement of two distances against loops over pairs and orders, and the tables."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from analysis.measures.heads.head_map import head_layout, head_linkage
from analysis.measures.heads.permutation_tests import (
    distance_agreement,
    layer_cohesions,
    layer_parts,
)
from analysis.statistics.base.weighing import WEIGHINGS
from analysis.statistics.heads.head_distances import (
    HEAD_DISTANCE_AGREEMENT,
    HEAD_LAYOUT,
    HEAD_LINKAGE,
    LAYER_COHESION,
)
from tests.reference import correlation_parts as twin_of_parts
from tests.reference.spearman import spearman
from tests.statistics.fits import made, store_of

Matrix = list[list[float]]


def of_pairs(one: Matrix, other: Matrix, order: tuple[int, ...]) -> float:
    """ρ over all pairs when the heads of the other matrix stand in an order."""
    pairs = list(combinations(range(len(one)), 2))
    rho = spearman([one[a][b] for a, b in pairs], [other[order[a]][order[b]] for a, b in pairs])
    assert rho is not None
    return rho


def p_value(one: Matrix, other: Matrix) -> tuple[float, int]:
    """The share of all orders that give as large a ρ as the true one, and how many there are."""
    heads = tuple(range(len(one)))
    rhos = [of_pairs(one, other, order) for order in permutations(heads)]
    true = of_pairs(one, other, heads)
    return sum(rho >= true - 1e-9 for rho in rhos) / len(rhos), len(rhos)


def nearest(distances: Matrix, head: int) -> int:
    """The head that is nearest to one, the first of equals."""
    others = [index for index in range(len(distances)) if index != head]
    return min(others, key=lambda index: distances[head][index])


def distances(n: int, seed: int) -> np.ndarray:
    """Distances between points of a plane."""
    points = np.random.default_rng(seed).normal(size=(n, 2))
    return np.linalg.norm(points[:, None] - points, axis=-1)


@pytest.mark.parametrize("seed", range(3))
def test_all_orders_of_few_heads_are_tried_as_the_twin_does(seed):
    one, other = distances(5, seed), distances(5, seed + 10).round(1)
    agreement = distance_agreement(one, other, seed=0)
    assert agreement is not None
    a, b = one.tolist(), other.tolist()
    assert agreement.spearman == pytest.approx(of_pairs(a, b, tuple(range(5))))
    assert (agreement.p_value, agreement.n_permutations) == (
        pytest.approx(p_value(a, b)[0]),
        p_value(a, b)[1],
    )
    for head in range(5):
        rows = [[m[head][neighbour] for neighbour in range(5) if neighbour != head] for m in (a, b)]
        assert agreement.of_heads[head] == pytest.approx(spearman(*rows))
        same = nearest(a, head) == nearest(b, head)
        assert agreement.same_nearest[head] == same


def test_heads_that_are_all_alike_have_no_correlation():
    same = np.ones((4, 4)) - np.eye(4)
    agreement = distance_agreement(same, distances(4, 0), seed=0)
    assert agreement is not None
    assert np.isnan([agreement.spearman, agreement.p_value]).all()


def test_two_heads_have_one_distance_and_three_can_be_ranked():
    assert distance_agreement(distances(2, 0), distances(2, 1), seed=0) is None
    agreement = distance_agreement(distances(3, 0), distances(3, 0), seed=0)
    assert agreement is not None
    assert agreement.spearman == pytest.approx(1)


def in_layers(within: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Distances of 4 layers of 6 heads that are those of the layers, and some within them."""
    layers = np.repeat(np.arange(4), 6)
    far = 100 * distances(4, seed)[layers][:, layers]
    return (far + within) * (1 - np.eye(24)), layers


def test_parts_are_those_of_the_twin_and_add_up():
    matrix, layers = in_layers(distances(24, 1), seed=0)
    other = distances(24, 2)
    found, agreement = (
        layer_parts(matrix, other, layers, seed=0),
        distance_agreement(matrix, other, seed=0),
    )
    assert agreement is not None
    upper = np.triu_indices(24, 1)
    ranks = [rankdata(side[upper]).tolist() for side in (matrix, other)]
    joined = [((layers[a], layers[b]),) for a, b in zip(*upper, strict=True)]
    slow = twin_of_parts.parts(ranks, joined)
    assert [part[:2] for part in found.parts] == [pytest.approx(part) for part in slow]
    assert sum(part.contribution for part in found.parts) == pytest.approx(agreement.spearman)
    for parts, own in zip(found.of_heads, agreement.of_heads, strict=True):
        assert sum(part.contribution for part in parts) == pytest.approx(own)


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


@pytest.mark.parametrize("layers", [(1, 1, 1, 2, 2, 3), (1,)])
def test_tables_are_of_the_stored_distances_of_their_weighing(layers):
    layers, heads = np.array(layers), np.arange(len(layers))
    one, other = (place.ravel() for place in np.indices((len(layers),) * 2))
    places = {"layer_a": layers[one], "head_a": heads[one]}
    places |= {"layer_b": layers[other], "head_b": heads[other]}
    matrices = {name: distances(len(layers), seed) for seed, name in enumerate(WEIGHINGS)}
    rows = pd.concat(
        pd.DataFrame({"weighing": name, **places, "mean_divergence": matrix.ravel()})
        for name, matrix in matrices.items()
    )
    tables = (HEAD_LAYOUT, HEAD_LINKAGE, LAYER_COHESION)
    with store_of(head_distance_weighing=rows.sample(frac=1, random_state=0)) as store:
        made_rows = [made(table, store, seed=3) for table in (*tables, HEAD_DISTANCE_AGREEMENT)]
    if len(layers) == 1:
        assert all(found.empty for found in made_rows)
        return
    *found, both = made_rows
    for name, matrix in matrices.items():
        layout, steps, cohesion = (frame[frame["weighing"] == name] for frame in found)
        expected = head_layout(matrix)
        assert expected is not None
        assert layout[["x", "y"]].to_numpy() == pytest.approx(expected.points)
        columns = ["left", "right", "height", "n_heads"]
        assert steps[columns].to_numpy() == pytest.approx(head_linkage(matrix))
        compared = layer_cohesions(matrix, layers, seed=3)
        assert cohesion["layer"].astype(float).fillna(0).tolist() == [1, 2, 0]
        expected = [compared[layer].p_value for layer in (1, 2, None)]
        assert cohesion["p_value"].tolist() == pytest.approx(expected)
        means = matrix.sum(axis=1) / (len(layers) - 1)
        assert both[name][:-1].tolist() == pytest.approx(means)
    one, other = matrices.values()
    agreement = distance_agreement(one, other, seed=3)
    assert agreement is not None
    assert both["spearman"].tolist() == pytest.approx([*agreement.of_heads, agreement.spearman])
    parts = layer_parts(one, other, layers, seed=3)
    expected = [agreement.p_value, parts.p_value]
    assert both[["p_value", "p_within"]].iloc[-1].tolist() == pytest.approx(expected)
