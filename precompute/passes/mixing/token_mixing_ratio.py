"""The mixing ratio of every token, mean over the layers."""

import numpy as np
import pyarrow as pa

from analysis.measures.mixing.layer_mixing import LayerMixing
from analysis.measures.mixing.mixing_ratio import mean_over_layers, ratios_of_layer
from analysis.statistics.mixing.token_mixing_ratio import TABLE
from analysis.statistics.rows import names_of, table_of
from precompute.passes.batch import Batch

VERSION = 1
NEEDS = ("layer_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per token and scope."""
    return pa.concat_tables(
        _rows(sequence.index, layers, batch.order.of_ratios)
        for sequence, layers in zip(batch.sequences, batch.layer_mixing, strict=True)
    )


def _rows(index: int, layers: tuple[LayerMixing, ...], scopes: tuple[str, ...]) -> pa.Table:
    means = mean_over_layers([ratios_of_layer(layer.ratios.numpy()) for layer in layers])
    scope, position = np.indices(means.shape)
    return table_of(
        TABLE,
        seq=np.full(means.size, index),
        pos=position.ravel(),
        scope=names_of(scope.ravel(), scopes),
        mean=means.ravel(),
    )
