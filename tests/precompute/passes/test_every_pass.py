"""Laws of every table that a pass fills, over texts of encoders and decoders, and over images."""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from torch.multiprocessing.reductions import StorageWeakRef

from analysis import head_slices
from analysis.measures.mixing import layer_mixing
from analysis.measures.positions import relative_position_profile, score_sums
from analysis.needs import Need
from analysis.statistics.base.tables import Table
from precompute.jobs.shards import as_stored, merged
from precompute.passes import STATISTICS, heads
from precompute.passes.filling import begin
from precompute.passes.layers import Layer, batch_of, run_layers
from tests.tiny import ANNOTATED as SENTENCES
from tests.tiny import BOTH_WAYS, OF_DECODERS, tiny_model, tiny_sequences
from tests.tiny_vision import softmax_error
from tests.tracing import rows_of_tables

OF_LAYERS = [table for table in STATISTICS.values() if table.of_layers]
OF_ROUNDING = ("worst_pos",)  # which token is worst where all parts add up is chance
ANNOTATED = {Need.TREES, Need.COREFERENCE, Need.WORDS}
CHOSEN = frozenset({0, 3})


def families_of(table: Table) -> tuple[str, ...]:
    """Return the families that a table is tried on."""
    needs = set(table.needs)
    if needs & {Need.IMAGES, Need.CLASSES}:
        return ("vit",)
    if Need.SINK_LOGITS in needs:
        return ("gpt_oss",)
    if Need.TURNED_POSITIONS in needs:
        return (*OF_DECODERS, "gpt_neox", "gemma3_text")
    if Need.DISTANCE_TERMS in needs:
        return ("t5", "deberta-v2")
    return BOTH_WAYS if Need.ADDED_POSITIONS in needs else BOTH_WAYS + OF_DECODERS


every_table = pytest.mark.parametrize(
    ("family", "table"),
    [
        pytest.param(family, table, id=f"{family}-{table.name}")
        for table in OF_LAYERS
        for family in families_of(table)
    ],
)


AT_ONCE = {
    (head_slices, "MOST_WEIGHTS"): 1,
    (score_sums, "_SCORES"): 1,
    (relative_position_profile, "_ROWS"): 2,
    (layer_mixing, "MOST_SHARES"): 100,
    (heads, "TOKENS"): 1,
    (heads, "OF_VARIANTS"): 1,
}
"""Bounds on what is in memory at once, so small that one head, query or text is left."""
Rows = dict[str, pa.Table]


@pytest.fixture(scope="module")
def rows_of() -> Callable[..., list[Rows]]:
    """Rows of a family's tables: of all sequences in one batch, few at once, or of every one alone.

    Tables on words get annotated sequences.
    """

    @cache
    def rows(family: str, *, few_at_once: bool = False) -> list[Rows]:
        plain, annotated = tiny_sequences(family), tiny_sequences(family, SENTENCES)
        with pytest.MonkeyPatch.context() as patched:
            for (module, name), most in AT_ONCE.items() if few_at_once else ():
                patched.setattr(module, name, most)
            return [
                _rows_of(family, sequences, are_annotated=are_annotated)
                for chosen, are_annotated in ((plain, False), (annotated, True))
                for sequences in ((chosen,) if few_at_once else ([sequence] for sequence in chosen))
            ]

    return rows


def _rows_of(family, sequences, *, are_annotated: bool) -> dict[str, pa.Table]:
    tables = [
        table
        for table in OF_LAYERS
        if family in families_of(table) and bool(ANNOTATED & set(table.needs)) == are_annotated
    ]
    tiny = tiny_model(family)
    means = partial(tiny.type_means, tiny_sequences(family))  # of a corpus, whatever the batch
    few = dict.fromkeys(("exemplars", "checked", "run_again", "kept"), CHOSEN)
    return rows_of_tables(tables, tiny, sequences, type_means=means, **few)


def shards_of(table: Table, rows: list[Rows]) -> list[pa.Table]:
    return [of[table.name] for of in rows if table.name in of]


def _stored(table: Table, shards: list[pa.Table]) -> pd.DataFrame:
    """The merged rows in the order of their key."""
    frame = as_stored(table, merged(table, shards)).to_pandas()
    frame = frame.astype({c.name: str for c in table.key if c.unit == "name"})
    return frame.sort_values([c.name for c in table.key], ignore_index=True)


@every_table
def test_padding_batching_order_and_heads_and_queries_one_at_a_time_change_no_number(
    family, table, rows_of
):
    """Equality is up to rounding, which is larger if the library's softmax is in float32."""
    (shard,) = shards_of(table, rows_of(family, few_at_once=True))
    shards = shards_of(table, rows_of(family))
    assert shard.schema == table.shard_schema
    assert shard.num_rows > 0
    found, expected = _stored(table, [shard]), _stored(table, shards)
    pd.testing.assert_frame_equal(expected, _stored(table, shards[::-1]))
    rtol, atol = (1e-6, 1e-12) if softmax_error(family) < 1e-9 else (1e-5, 1e-6)
    keys = [column.name for column in table.key]
    pd.testing.assert_frame_equal(found[keys], expected[keys])
    for column in table.columns[len(table.key) :]:
        if column.name in OF_ROUNDING:
            continue
        ours, theirs = found[column.name], expected[column.name]
        if pd.api.types.is_string_dtype(ours):
            assert ours.tolist() == theirs.tolist()
            continue
        flat = (column.explode().to_numpy(float) for column in (ours, theirs))
        np.testing.assert_allclose(*flat, rtol=rtol, atol=atol)


KEEP_LAYERS = {"relevance_map", "sequence_perturbation"}
KEEP_LAYERS |= {"sequence_relevance", "sequence_relevance_agreement"}
"""Tables of relevance, whose rules start at the last layer; they are bounded for long texts."""


@pytest.mark.parametrize("family", BOTH_WAYS + OF_DECODERS, indirect=True, scope="session")
def test_a_layer_is_let_go_before_the_next_one_is_done(family, tiny, sequences):
    batch = batch_of(tiny, sequences, exemplars=CHOSEN, checked=CHOSEN)
    fillings = [
        begin(table, batch)
        for table in OF_LAYERS
        if family in families_of(table) and table.name not in KEEP_LAYERS
    ]
    given: list[StorageWeakRef] = []

    def add(layer: Layer) -> None:
        assert all(attention.expired() for attention in given)
        for filling in fillings:
            filling.add(layer)
        given.append(StorageWeakRef(layer.attention.untyped_storage()))

    run_layers(tiny, batch, add)
    assert len(given) == len(tiny.layers) > 1
