"""Offsets of patches: of attention, and stored as means over images."""

import duckdb
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.positions.relative_position_profile import patch_offsets
from analysis.statistics.positions.attention import PATCH_OFFSET
from precompute.jobs.runner import run_local
from precompute.run import run
from tests.small_store import request as asked_for
from tests.statistics.positions.turned_layers import tuples
from tests.tiny import tiny_model, tiny_sequences
from tests.tiny_vision import COLUMNS, HEADS, LAYERS, ROWS, tiny_vision_model
from tests.tracing import rows_of_table, trace_of


def slow_offsets(matrix, n_rows, n_columns, reach):
    """Attention of one head by row and column offset, per patch and per pair."""
    weights = {}
    for query in range(n_rows * n_columns):
        for key in range(n_rows * n_columns):
            down = key // n_columns - query // n_columns
            right = key % n_columns - query % n_columns
            if abs(down) <= reach and abs(right) <= reach:
                weights.setdefault((down, right), []).append(matrix[query][key])
    return {
        offset: (sum(values) / (n_rows * n_columns), sum(values) / len(values))
        for offset, values in weights.items()
    }


SIDES = st.integers(1, 5)


def _softmax(n, *, seed=0):
    scores = np.random.default_rng(seed).normal(scale=2, size=(2, n, n))
    return torch.from_numpy(scores).softmax(dim=-1)


@given(SIDES, SIDES, st.integers(0, 6), st.integers(0, 99))
def test_offsets_are_those_of_the_slow_twin(n_rows, n_columns, reach, seed):
    attention = _softmax(n_rows * n_columns, seed=seed)
    offsets = patch_offsets(attention, n_rows=n_rows, n_columns=n_columns, reach=reach)
    for head, matrix in enumerate(attention.tolist()):
        slow = slow_offsets(matrix, n_rows, n_columns, reach)
        assert {(r, c) for r in offsets.rows for c in offsets.columns} == set(slow)
        expected = [slow[row, column] for row in offsets.rows for column in offsets.columns]
        actual = np.stack([offsets.attention[head].ravel(), offsets.per_pair[head].ravel()], axis=1)
        np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_the_next_patch_of_the_reading_order_is_two_offsets():
    """The first patch of a row follows the last of the row above, and is no neighbour of it."""
    attention = torch.diag(torch.ones(14), 1)[None]
    offsets = patch_offsets(attention, n_rows=3, n_columns=5, reach=7)
    row, column = offsets.attention[0].nonzero()
    steps = set(zip(offsets.rows[row].tolist(), offsets.columns[column].tolist(), strict=True))
    assert steps == {(0, 1), (1, -4)}


FAMILY = "dinov2_with_registers"


HEAD_PLACES = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The store of a model with several special tokens, and its maps of patches."""
    asked = asked_for(tmp_path_factory.mktemp("patches"), FAMILY, statistics=["patch_offset"])
    sequences = tuple(run(asked, run_local).corpus)
    model = tiny_vision_model(FAMILY)  # the same weights, in float64
    first = len(sequences[0]) - ROWS * COLUMNS
    traces = [trace_of(model, [sequence]) for sequence in sequences]
    with duckdb.connect(str(asked.output), read_only=True) as store:
        yield (
            store,
            [[layer.attention[0][:, first:, first:] for layer in trace.layers] for trace in traces],
        )


def test_offsets_are_means_over_images_of_the_models_own_attention(made):
    store, images = made
    for layer, head in HEAD_PLACES:
        where = "where layer = ? and head = ?"
        rows = store.execute(f"from patch_offset {where}", [layer + 1, head + 1]).df()
        slow = [slow_offsets(maps[layer][head].tolist(), ROWS, COLUMNS, 7) for maps in images]
        assert len(rows) == len(slow[0]) == (2 * ROWS - 1) * (2 * COLUMNS - 1)
        assert (rows["n_images"] == len(images)).all()
        for row in tuples(rows):
            both = [offsets[row.row_offset, row.column_offset] for offsets in slow]
            attention, per_pair = (sum(values) / len(both) for values in zip(*both, strict=True))
            assert row.attention == pytest.approx(attention, rel=1e-4)
            assert row.attention_per_pair == pytest.approx(per_pair, rel=1e-4)


def test_texts_have_no_patches():
    rows = rows_of_table(PATCH_OFFSET, tiny_model("bert"), tiny_sequences("bert"))
    assert rows.num_rows == 0
    assert rows.schema == PATCH_OFFSET.shard_schema
