"""Rows of every sequence, layer, head and place from the results of a measure."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from jaxtyping import Float
from torch import Tensor

from analysis.statistics.rows import names_of, nulls_where, table_of
from analysis.statistics.table import Table
from precompute.passes.batch import Batch
from precompute.passes.sinks.places import PLACES


def rows_of_layer(
    table: Table,
    batch: Batch,
    layer: int,
    *,
    quantities: Float[Tensor, "batch head place value"],
    names: Sequence[str],
) -> pa.Table:
    """A row where the first of the named quantities is a number; the others are NULL where not."""
    values = quantities.double().cpu().numpy()
    row, head, place = np.nonzero(~np.isnan(values[..., 0]))
    of_rows = values[row, head, place]
    return table_of(
        table,
        seq=batch.sequence_of_row[row],
        layer=np.full(len(row), layer),
        head=head,
        place=names_of(place, PLACES),
        **{name: nulls_where(of_rows[:, at]) for at, name in enumerate(names)},
    )
