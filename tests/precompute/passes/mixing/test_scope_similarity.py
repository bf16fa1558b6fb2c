from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from precompute.passes.mixing.sequence_scope_similarity import totals

from analysis.statistics.mixing import scope_similarity
from precompute.passes.batch import Batch
from tests.intervals import assert_ordered


@pytest.fixture(scope="module")
def by_sequence(masked_store) -> dict[tuple[int, str, str], dict[int, float]]:
    """ρ of every sequence by layer and ordered pair of scopes."""
    correlations: dict = {}
    for seq, layer, a, b, spearman in masked_store.execute(
        "from sequence_scope_similarity"
    ).fetchall():
        for pair in ((a, b), (b, a)):
            correlations.setdefault((layer, *pair), {})[seq] = spearman
    return correlations


def test_each_layer_is_the_mean_over_sequences(masked_store, by_sequence):
    for layer in (1, 2):
        frame = scope_similarity.matrix(masked_store, layer=layer)
        for row in frame[frame["scope_a"] != frame["scope_b"]].itertuples():
            of = list(by_sequence[layer, row.scope_a, row.scope_b].values())
            assert row.spearman == pytest.approx(sum(of) / len(of), rel=1e-12)
            assert row.n_sequences == len(of)
            assert_ordered(row.low, row.spearman, row.high)


@pytest.mark.parametrize("layer", [1, 2, None])
def test_the_matrix_is_square_symmetric_and_1_on_its_diagonal(masked_store, layer, layer_order):
    frame = scope_similarity.matrix(masked_store, layer=layer)
    square = frame.pivot(index="scope_a", columns="scope_b", values="spearman")
    square = square.loc[list(layer_order.scopes), list(layer_order.scopes)].to_numpy()
    np.testing.assert_array_equal(square, square.T)
    assert (square.diagonal() == 1).all()
    assert list(frame["scope_a"].unique()) == list(layer_order.scopes)
    assert (frame["n_sequences"] == 3).all()


def test_steps_go_from_each_scope_to_the_next(masked_store, layer_order):
    steps = scope_similarity.steps(masked_store)
    pairs = list(zip(steps["scope_a"], steps["scope_b"], strict=True))
    assert pairs == 3 * list(pairwise(layer_order.scopes))
    assert steps["layer"].isna().sum() == len(layer_order.scopes) - 1
    matrix = scope_similarity.matrix(masked_store, layer=2)
    of_layer = steps[steps["layer"] == 2].merge(matrix, on=["scope_a", "scope_b", "low", "high"])
    assert of_layer["spearman_x"].tolist() == of_layer["spearman_y"].tolist()
    assert len(of_layer) == len(layer_order.scopes) - 1


@pytest.mark.parametrize(("layer", "places"), [(1, (0, 1)), (None, (1, 0))])
def test_extremes_begin_with_the_sequence_that_agrees_least(
    masked_store, by_sequence, layer_order, layer, places
):
    scopes = tuple(layer_order.scopes[place] for place in places)
    rows = scope_similarity.extremes(
        masked_store, layer=layer, scope_a=scopes[0], scope_b=scopes[1], limit=2
    )
    layers = [layer] if layer else [1, 2]
    of = {
        seq: sum(by_sequence[number, *scopes][seq] for number in layers) / len(layers)
        for seq in range(3)
    }
    assert rows["seq"].tolist() == sorted(of, key=of.__getitem__)[:2]
    assert rows["spearman"].tolist() == pytest.approx(sorted(of.values())[:2], rel=1e-12)
    assert list(rows.columns) == ["seq", "spearman", "n_tokens", "text"]


def test_a_layer_without_anything_to_rank_has_no_row(sequences, traced_alone):
    batch = Batch(sequences[:1], traced_alone[0])
    first, *others = batch.layer_mixing[0]
    level = [replace(layer, maps=layer.maps * 0 + 1) for layer in others]
    vars(batch)["layer_mixing"] = ((first, *level),)
    rows = totals(batch).to_pandas()
    assert set(rows["layer"]) == {0}
    n_scopes = len(batch.order.scopes)
    assert len(rows) == n_scopes * (n_scopes - 1) // 2
