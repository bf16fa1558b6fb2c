"""Tables made from stored distances of heads: each is its formula of the right matrix and seed."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from duckdb import DuckDBPyConnection

from analysis.measures.heads.head_map import head_layout, head_linkage
from analysis.measures.heads.permutation_tests import (
    distance_agreement,
    layer_cohesions,
    layer_parts,
)
from analysis.statistics.heads import head_arrangement, head_distance
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.parts import OF_HEADS
from tests.statistics.fits import made, store_of

LAYERS = np.array([1, 1, 1, 2, 2, 3])
HEADS = np.array([1, 2, 3, 1, 2, 1])
SEED = 3
every_weighing = pytest.mark.parametrize("weighing", WEIGHINGS)


def matrix(weighing: str) -> np.ndarray:
    points = np.random.default_rng(WEIGHINGS.index(weighing)).normal(size=(len(LAYERS), 3))
    return np.linalg.norm(points[:, None] - points, axis=-1)


@pytest.fixture(scope="module")
def store() -> Iterator[DuckDBPyConnection]:
    one, other = np.indices((len(LAYERS),) * 2).reshape(2, -1)
    places = {"layer_a": LAYERS[one], "head_a": HEADS[one]}
    places |= {"layer_b": LAYERS[other], "head_b": HEADS[other]}
    rows = [
        pd.DataFrame({"weighing": name, **places, "mean_divergence": matrix(name).ravel()})
        for name in WEIGHINGS
    ]
    shuffled = pd.concat(rows).sample(frac=1, random_state=0)
    with store_of(head_distance_weighing=shuffled) as opened:
        yield opened


@every_weighing
def test_planes_and_trees_are_of_the_stored_distances(store, weighing):
    expected = head_layout(matrix(weighing), seed=SEED)
    assert expected is not None
    rows = made(head_arrangement.LAYOUT, store, seed=SEED)
    points = rows[rows["weighing"] == weighing]
    assert points[["layer", "head"]].to_numpy().T.tolist() == [LAYERS.tolist(), HEADS.tolist()]
    assert points[["x", "y"]].to_numpy() == pytest.approx(expected.points)
    assert points["stress"].tolist() == pytest.approx([expected.stress] * len(LAYERS))
    steps = made(head_arrangement.LINKAGE, store)
    of_tree = steps[steps["weighing"] == weighing]
    assert of_tree["step"].tolist() == list(range(len(LAYERS) - 1))
    columns = ["left", "right", "height", "n_heads"]
    assert of_tree[columns].to_numpy() == pytest.approx(head_linkage(matrix(weighing)))


@every_weighing
def test_layers_of_several_heads_are_compared_one_by_one_and_together(store, weighing):
    rows = made(head_arrangement.COHESION, store, seed=SEED)
    of_weighing = rows[rows["weighing"] == weighing].astype({"layer": float})
    assert of_weighing["layer"].fillna(0).tolist() == [1, 2, 0]
    for row, layer in zip(of_weighing.itertuples(), [1, 2, None], strict=True):
        expected = layer_cohesions(matrix(weighing), LAYERS, seed=SEED).get(layer)
        assert expected is not None
        assert row[3:] == pytest.approx(tuple(expected))


def test_both_distances_are_compared_head_by_head_and_as_a_whole(store):
    both = [matrix(weighing) for weighing in WEIGHINGS]
    expected = distance_agreement(both[0], both[1], seed=SEED)
    parts = layer_parts(both[0], both[1], LAYERS, seed=SEED)
    assert expected is not None
    rows = made(head_distance.AGREEMENT, store, seed=SEED)
    heads, every = rows.iloc[:-1], rows.iloc[-1]
    assert heads["spearman"].tolist() == pytest.approx(expected.of_heads)
    assert heads["same_nearest"].tolist() == expected.same_nearest.tolist()
    for name, distances in zip(WEIGHINGS, both, strict=True):
        assert heads[name].tolist() == pytest.approx(distances.sum(axis=1) / (len(LAYERS) - 1))
    assert heads[["p_value", "n_permutations"]].isna().all(axis=None)
    numbers = [expected.spearman, expected.p_value, expected.n_permutations, parts.p_value]
    columns = ["spearman", "p_value", "n_permutations", "p_within"]
    assert every[columns].tolist() == pytest.approx(numbers)
    assert every["same_nearest"] == pytest.approx(expected.same_nearest.mean())
    assert every[list(OF_HEADS)].tolist() == pytest.approx([p.contribution for p in parts.parts])


def test_one_head_has_no_tables(store):
    """A model of one head has a distance to itself."""
    row = {"layer_a": 1, "head_a": 1, "layer_b": 1, "head_b": 1, "mean_divergence": 0.0}
    rows = pd.DataFrame([{"weighing": weighing, **row} for weighing in WEIGHINGS])
    with store_of(head_distance_weighing=rows) as small:
        for table in (
            head_arrangement.LAYOUT,
            head_arrangement.LINKAGE,
            head_arrangement.COHESION,
            head_distance.AGREEMENT,
        ):
            assert made(table, small).empty, table.name
