"""Effect of the network on pairs of tokens under each reading of the bias, in compared
sequences."""

import numpy as np
import pyarrow as pa

from analysis.measures.mixing.layer_mixing import LayerMixing
from analysis.measures.pairs.mixing_change import pair_deltas
from analysis.statistics.mixing.bias_reading_pair import TABLE
from analysis.statistics.rows import table_of
from precompute.passes.batch import Batch

VERSION = 1
NEEDS = ("layer_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per compared sequence, layer and ordered pair of positions."""
    rows = [
        _of_layer(batch, row, index, dict(zip(readings, layers, strict=True)))
        for row, readings in batch.bias_readings
        for index, layers in enumerate(zip(*readings.values(), strict=True))
    ]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *rows])


def _of_layer(batch: Batch, row: int, index: int, readings: dict[str, LayerMixing]) -> pa.Table:
    pairs, ids = batch.pairs[row][index], batch.sequences[row].ids
    target, source = np.nonzero(pairs & ~np.eye(len(pairs), dtype=bool))
    place = tuple(batch.order.effects).index("ff")
    changes = {
        name: pair_deltas(mixing.maps.double().numpy(), batch.order)[place, target, source]
        for name, mixing in readings.items()
    }
    return table_of(
        TABLE, layer=np.full(len(target), index), source=ids[source], target=ids[target], **changes
    )
