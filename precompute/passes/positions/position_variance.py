"""Principal components of the position embeddings."""

import numpy as np
import pyarrow as pa

from analysis.measures.positions.position_variance import position_variance
from analysis.models.trace import ModelWeights
from analysis.statistics.positions.position_variance import TABLE
from analysis.statistics.rows import table_of

VERSION = 1


def weights(model: ModelWeights) -> pa.Table:
    """One row per component."""
    if model.position_embedding is None:
        return TABLE.shard_schema.empty_table()
    ratio = position_variance(model.position_embedding).cpu().numpy()
    component = np.arange(1, len(ratio) + 1)
    return table_of(TABLE, component=component, ratio=ratio, cumulative=ratio.cumsum())
