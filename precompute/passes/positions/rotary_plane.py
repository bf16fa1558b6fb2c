"""Queries, keys and scores in every plane in which they are turned, added up over pairs.

Shards keep the sums of every sequence apart, so that fits can redraw sequences.
"""

import numpy as np
import pyarrow as pa
from torch import Tensor

from analysis.measures.positions.rotary_plane import PlaneTotals, plane_totals
from analysis.models.rotary import Rotary
from analysis.statistics.positions.rotary_plane import COMPLEX, REAL, TABLE, UNTURNED
from analysis.statistics.rows import table_of
from precompute.passes.batch import Batch

VERSION = 2


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer, head and plane, before merging; none without such rotation."""
    parts = [
        _rows(sequence.index, index, layer.weights.rotary, plane_totals(read, layer.weights))
        for index, layer in enumerate(batch.trace.layers)
        if isinstance(layer.weights.rotary, Rotary)
        for sequence, read in batch.without_padding(layer.attention_input)
    ]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *parts])


def _rows(seq: int, layer: int, rotary: Rotary, of_planes: PlaneTotals) -> pa.Table:
    """Return rows of every plane of every head, after those of the unrotated coordinates."""
    heads, planes = of_planes.score.shape
    head, plane = np.indices((heads, planes + 1)).reshape(2, -1)
    columns = {name: _array(getattr(of_planes, name)) for name in (*COMPLEX, *REAL)}
    none = {name: np.zeros(heads) for name in columns} | {"score": _array(of_planes.unturned)}
    sums = {
        name: np.concatenate([none[name][:, None], values], axis=1).ravel()
        for name, values in columns.items()
    }
    frequencies = np.concatenate([[0.0], _array(rotary.frequencies.double())])
    return table_of(
        TABLE,
        seq=np.full(head.size, seq),
        layer=np.full(head.size, layer),
        head=head,
        plane=UNTURNED + plane,
        frequency=frequencies[plane],
        n_pairs=np.full(head.size, of_planes.n_pairs),
        **{name: sums[name] for name in REAL},
        **{f"{name}_real": sums[name].real for name in COMPLEX},
        **{f"{name}_imaginary": sums[name].imag for name in COMPLEX},
    )


def _array(values: Tensor) -> np.ndarray:
    return values.cpu().numpy()
