"""Singular values of every head's f."""

import numpy as np
import pyarrow as pa

from analysis.measures.norms.singular_value import affine_singular_values, linear_singular_values
from analysis.models.trace import ModelWeights
from analysis.statistics.norms.singular_value import TABLE
from analysis.statistics.rows import nulls_where, table_of

VERSION = 2


def weights(model: ModelWeights) -> pa.Table:
    """One row per layer, head and rank; the linear part has one rank fewer."""
    values = np.stack([affine_singular_values(layer).cpu().numpy() for layer in model.layers])
    linear = np.full_like(values, np.nan)
    linear[..., :-1] = [linear_singular_values(layer).cpu().numpy() for layer in model.layers]
    layer, head, rank = np.indices(values.shape).reshape(3, -1)
    return table_of(
        TABLE,
        layer=layer,
        head=head,
        rank=rank + 1,
        value=values.ravel(),
        linear_value=nulls_where(linear.ravel()),
    )
