"""Offsets of patches in a store built by the real passes, against the bare model in float64."""

import duckdb
import pytest
import torch

from analysis.statistics.positions import patch_offset
from precompute.jobs.runner import run_local
from precompute.passes.batch import Batch
from precompute.passes.positions import patch_offset as patch_pass
from precompute.run import run
from tests.reference.positions import patch_offset as twin
from tests.small_store import request as asked_for
from tests.tiny import tiny_model, tiny_sequences
from tests.tiny_vision import COLUMNS, HEADS, LAYERS, ROWS, tiny_vision_model

FAMILY = "dinov2_with_registers"
HEAD_PLACES = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The store of a model with several special tokens, and its maps of patches."""
    asked = asked_for(tmp_path_factory.mktemp("patches"), FAMILY, statistics=["patch_offset"])
    sequences = tuple(run(asked, run_local).corpus)
    model = tiny_vision_model(FAMILY)  # the same weights, in float64
    first = len(sequences[0]) - ROWS * COLUMNS
    traces = [model.trace([sequence]) for sequence in sequences]
    with duckdb.connect(str(asked.output), read_only=True) as store:
        yield (
            store,
            [[layer.attention[0][:, first:, first:] for layer in trace.layers] for trace in traces],
        )


def test_offsets_are_means_over_images_of_the_models_own_attention(made):
    store, images = made
    for layer, head in HEAD_PLACES:
        rows = patch_offset.of_head(store, layer=layer + 1, head=head + 1)
        slow = [twin.by_offset(maps[layer][head].tolist(), ROWS, COLUMNS, 7) for maps in images]
        assert len(rows) == len(slow[0]) == (2 * ROWS - 1) * (2 * COLUMNS - 1)
        assert (rows["n_images"] == len(images)).all()
        for row in rows.itertuples():
            both = [offsets[row.row_offset, row.column_offset] for offsets in slow]
            attention, per_pair = (sum(values) / len(both) for values in zip(*both, strict=True))
            assert row.attention == pytest.approx(attention, rel=1e-4)
            assert row.attention_per_pair == pytest.approx(per_pair, rel=1e-4)


def test_special_tokens_take_their_part_of_attention_away(made):
    store, images = made
    sums = store.execute(
        "select layer, head, sum(attention) from patch_offset group by all order by all"
    ).fetchall()
    assert len(sums) == len(HEAD_PLACES)
    for layer, head, total in sums:
        patches = torch.stack([maps[layer - 1][head - 1].sum(dim=-1).mean() for maps in images])
        assert total == pytest.approx(float(patches.mean()), rel=1e-4)
        assert total < 1


def test_the_preferred_offset_is_the_largest_per_pair(made):
    store, _ = made
    best = patch_offset.preferred(store)
    assert len(best) == len(HEAD_PLACES)
    for row in best.to_dict("records"):
        every = patch_offset.of_head(store, layer=row["layer"], head=row["head"])
        top = every.nlargest(1, "attention_per_pair").iloc[0]
        for name in ("row_offset", "column_offset", "attention_per_pair"):
            assert row[name] == top[name]
        assert row["mean_per_pair"] == pytest.approx(every["attention_per_pair"].mean())


def test_of_equal_offsets_the_nearest_is_preferred(made):
    store, _ = made
    with duckdb.connect() as copy:
        copy.register("told", store.sql("from patch_offset").to_arrow_table())
        copy.execute("create table patch_offset as from told")
        copy.execute("update patch_offset set attention_per_pair = 0.1")
        best = patch_offset.preferred(copy)
    assert set(zip(best["row_offset"], best["column_offset"], strict=True)) == {(0, 0)}
    assert best["attention_per_pair"].tolist() == pytest.approx(best["mean_per_pair"].tolist())


def test_texts_have_no_patches():
    model = tiny_model("bert")
    sequences = tiny_sequences("bert")
    rows = patch_pass.totals(Batch(sequences, model.trace(sequences)))
    assert rows.num_rows == 0
    assert rows.schema == patch_offset.TABLE.shard_schema
