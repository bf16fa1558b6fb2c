"""Attention by rows and columns between patches, added up over images; no rows for texts."""

import numpy as np
import pyarrow as pa

from analysis.measures.positions.patch_offset import PatchOffsets, patch_offsets
from analysis.models.layout import TokenLayout
from analysis.statistics.positions.patch_offset import REACH, TABLE
from analysis.statistics.rows import table_of
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per layer, head and offset; special tokens take no part."""
    if batch.images is None:
        return TABLE.shard_schema.empty_table()
    by_image = [_of_image(batch, row, batch.images.layout) for row in range(len(batch.sequences))]
    rows, columns = by_image[0][0].rows, by_image[0][0].columns
    attention, per_pair = (
        np.sum([[getattr(offsets, name) for offsets in layers] for layers in by_image], axis=0)
        for name in ("attention", "per_pair")
    )
    layer, head, down, right = np.indices(attention.shape).reshape(4, -1)
    return table_of(
        TABLE,
        layer=layer,
        head=head,
        row_offset=rows[down],
        column_offset=columns[right],
        n_images=np.full(attention.size, len(by_image)),
        attention=attention.ravel(),
        attention_per_pair=per_pair.ravel(),
    )


def _of_image(batch: Batch, row: int, grid: TokenLayout) -> list[PatchOffsets]:
    """The offsets of one image, layer by layer."""
    (patches,) = batch.is_content[row].nonzero()
    queries, keys = np.ix_(patches, patches)
    size = {"n_rows": grid.rows, "n_columns": grid.columns}
    return [
        patch_offsets(layer.attention[row][:, queries, keys], **size, reach=REACH)
        for layer in batch.trace.layers
    ]
