"""Head distances in a file: matrix, plane, tree, and comparison of layers."""

import numpy as np
import pytest

from analysis.measures.heads.distance_agreement import distance_agreement
from analysis.measures.heads.head_layout import head_layout
from analysis.measures.heads.head_linkage import head_linkage
from analysis.measures.heads.layer_cohesion import layer_cohesion as cohesion_of
from analysis.statistics.heads import head_distance, head_distance_agreement
from analysis.statistics.heads import head_layout as layout_table
from analysis.statistics.heads import head_linkage as linkage_table
from analysis.statistics.heads import layer_cohesion as cohesion_table
from analysis.statistics.norms.weighing import NORM, WEIGHINGS
from precompute.jobs.runner import run_local
from precompute.models.load_models import load_model
from precompute.run import run
from tests.precompute.passes.conftest import DISTANCES
from tests.reference.heads import head_distance as twin
from tests.reference.transformed_vectors import of_trace
from tests.small_store import request as asked_for
from tests.tiny import HEADS, LAYERS

N = LAYERS * HEADS
every_weighing = pytest.mark.parametrize("weighing", WEIGHINGS)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, family):
    folder = tmp_path_factory.mktemp(f"distances-{family}")
    asked = asked_for(folder, family, statistics=list(DISTANCES), seed=3)
    return asked, run(asked, run_local)


@pytest.fixture(scope="module")
def matrices(store) -> dict[str, np.ndarray]:
    """Mean divergences by weighing, head by head."""
    return {
        weighing: head_distance.distances(store, weighing=weighing)["mean_divergence"]
        .to_numpy()
        .reshape(N, N)
        for weighing in WEIGHINGS
    }


def test_distances_are_those_of_the_twin_over_the_whole_corpus(finished, store):
    asked, plan = finished
    model = load_model(asked.model, device="cpu")
    expected: dict[str, np.ndarray] = dict.fromkeys(WEIGHINGS, np.zeros((N, N)))
    for sequence in plan.corpus:
        trace = model.trace([sequence])
        seen = trace.layers[0].weights.pairs(len(sequence)).tolist()
        for weighing, maps in of_trace(trace).items():
            heads = list(maps.values())
            more = [[twin.divergence(one, other, seen) for other in heads] for one in heads]
            expected[weighing] = expected[weighing] + more
    places = [(layer, head) for layer in range(1, LAYERS + 1) for head in range(1, HEADS + 1)]
    columns = ["layer_a", "head_a", "layer_b", "head_b"]
    n_rows = sum(map(len, plan.corpus))
    for weighing in WEIGHINGS:
        frame = head_distance.distances(store, weighing=weighing)
        found = list(frame[columns].itertuples(index=False, name=None))
        assert found == [(*one, *other) for one in places for other in places]
        near, least = (1e-3, 1e-5) if weighing == NORM else (1e-4, None)
        found = frame["divergence"].to_numpy().reshape(N, N)
        assert found == pytest.approx(expected[weighing], rel=near, abs=least)
        assert set(frame["n_rows"]) == {n_rows}
        mean, total = (frame[column].to_numpy() for column in ("mean_divergence", "divergence"))
        assert mean * n_rows == pytest.approx(total)


def test_both_distances_are_compared_head_by_head_and_as_a_whole(store, matrices):
    matrix, norm_matrix = matrices["weight"], matrices[NORM]
    expected = distance_agreement(matrix, norm_matrix, seed=3)
    assert expected is not None
    agreement = head_distance_agreement.agreement(store)
    heads, every = agreement.iloc[:-1], agreement.iloc[-1]
    assert heads["spearman"].tolist() == pytest.approx(expected.of_heads)
    assert heads["same_nearest"].tolist() == expected.same_nearest.tolist()
    assert heads["weight"].tolist() == pytest.approx(matrix.sum(axis=1) / (N - 1))
    assert heads["norm"].tolist() == pytest.approx(norm_matrix.sum(axis=1) / (N - 1))
    assert heads[["p_value", "n_permutations"]].isna().all(axis=None)
    numbers = ["spearman", "p_value", "n_permutations"]
    assert every[numbers].tolist() == pytest.approx(
        [expected.spearman, expected.p_value, expected.n_permutations]
    )
    assert every["same_nearest"] == pytest.approx(expected.same_nearest.mean())


def test_nearest_heads_come_first_and_a_head_is_not_its_own_neighbour(store, matrices):
    nearest = head_distance.nearest(store, layer=2, head=1, limit=3)
    own_index = HEADS
    others = sorted(
        (matrices["weight"][own_index][index], index) for index in range(N) if index != own_index
    )[:3]
    assert [tuple(row) for row in nearest[["layer", "head"]].to_numpy()] == [
        (index // HEADS + 1, index % HEADS + 1) for _, index in others
    ]
    assert nearest["mean_divergence"].tolist() == pytest.approx(
        [distance for distance, _ in others]
    )


@every_weighing
def test_the_plane_is_laid_out_from_the_distances_with_the_seed_of_the_run(
    store, matrices, weighing
):
    expected = head_layout(matrices[weighing], seed=3)
    assert expected is not None
    layout = layout_table.layout(store, weighing=weighing)
    assert layout[["x", "y"]].to_numpy() == pytest.approx(expected.points)
    assert layout["stress"].tolist() == pytest.approx([expected.stress] * N)
    assert layout["layer"].tolist() == [index // HEADS + 1 for index in range(N)]
    assert layout["head"].tolist() == [index % HEADS + 1 for index in range(N)]


@every_weighing
def test_the_tree_joins_the_stored_distances(store, matrices, weighing):
    steps = linkage_table.steps(store, weighing=weighing)
    assert steps["step"].tolist() == list(range(N - 1))
    columns = ["left", "right", "height", "n_heads"]
    assert steps[columns].to_numpy() == pytest.approx(head_linkage(matrices[weighing]))


@every_weighing
def test_layers_are_compared_one_by_one_and_together(store, matrices, weighing):
    layers = np.repeat(np.arange(1, LAYERS + 1), HEADS)
    cohesion = cohesion_table.cohesion(store, weighing=weighing)
    assert cohesion["layer"].dropna().tolist() == [1, 2]
    for row, layer in zip(cohesion.itertuples(), [1, 2, None], strict=True):
        expected = cohesion_of(matrices[weighing], layers, layer=layer, seed=3)
        assert expected is not None
        numbers = (row.within, row.between, row.difference, row.p_value, row.n_permutations)
        assert numbers == pytest.approx(expected)


def test_a_model_of_one_layer_has_distances_but_no_layers_to_compare(one_layer_store):
    assert len(head_distance.distances(one_layer_store)) == HEADS**2
    assert len(layout_table.layout(one_layer_store)) == HEADS
    assert len(linkage_table.steps(one_layer_store)) == HEADS - 1
    assert cohesion_table.cohesion(one_layer_store).empty
