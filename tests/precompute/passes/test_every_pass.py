"""Laws that every pass keeps, for every family."""

import numpy as np
import pandas as pd
import pytest

from precompute.passes import PASSES
from precompute.passes.base import Batch, Totals, Weights
from precompute.shards import as_stored, merged

TOTALS = [each for each in PASSES if isinstance(each, Totals)]
WEIGHTS = [each for each in PASSES if isinstance(each, Weights)]


def _rows(each: Totals, batches: list[Batch]) -> pd.DataFrame:
    """The merged rows in the order of their key."""
    shards = merged(each.TABLE, [each.totals(batch) for batch in batches])
    table = as_stored(each.TABLE, shards)
    frame = table.to_pandas().astype({c.name: str for c in each.TABLE.key if c.unit == "name"})
    return frame.sort_values([c.name for c in each.TABLE.key], ignore_index=True)


@pytest.mark.parametrize("each", TOTALS, ids=lambda each: each.TABLE.name)
def test_padding_and_batching_change_no_number(each, traced, traced_alone, sequences):
    together = _rows(each, [Batch(sequences, traced)])
    apart = _rows(each, [Batch((s,), t) for s, t in zip(sequences, traced_alone, strict=True)])
    keys = [column.name for column in each.TABLE.key]
    pd.testing.assert_frame_equal(together[keys], apart[keys])
    for column in each.TABLE.values:
        found, expected = (frame[column.name].to_numpy(float) for frame in (together, apart))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("each", TOTALS, ids=lambda each: each.TABLE.name)
def test_the_order_of_batches_changes_no_number(each, traced_alone, sequences):
    batches = [Batch((s,), t) for s, t in zip(sequences, traced_alone, strict=True)]
    pd.testing.assert_frame_equal(_rows(each, batches), _rows(each, batches[::-1]))


@pytest.mark.parametrize("each", TOTALS, ids=lambda each: each.TABLE.name)
def test_rows_have_the_types_of_the_contract(each, traced, sequences):
    assert each.totals(Batch(sequences, traced)).schema == each.TABLE.shard_schema


@pytest.mark.parametrize("each", WEIGHTS, ids=lambda each: each.TABLE.name)
def test_weights_need_no_corpus_and_keep_the_contract(each, tiny):
    table = each.weights(tiny.layers)
    assert table.schema == each.TABLE.schema
    assert table.num_rows > 0
