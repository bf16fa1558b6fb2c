"""Attention received by each token and norm of its transformed vector, by head."""

import numpy as np
import pyarrow as pa
from torch import Tensor

from analysis.measures.norms.head_token import attention_received
from analysis.statistics.norms.head_token import TABLE
from analysis.statistics.rows import names_of, table_of
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per token, layer and head."""
    is_token = batch.trace.is_token
    row, position = batch.real_tokens
    heads = batch.trace.layers[0].attention.shape[1]
    token_type = batch.token_types.cpu().numpy()[row, position]
    of_every_layer = {
        "seq": batch.sequence_of_row[row].repeat(heads),
        "pos": position.astype(np.int16).repeat(heads),
        "head": np.tile(np.arange(heads, dtype=np.uint8), len(row)),
        "token_type": names_of(token_type.repeat(heads)),
    }

    def of_tokens(by_head: Tensor) -> np.ndarray:
        return by_head.transpose(1, 2)[is_token].flatten().cpu().numpy()

    return pa.concat_tables(
        table_of(
            TABLE,
            layer=np.full(len(row) * heads, index, dtype=np.uint8),
            value_norm=of_tokens(norms),
            attention_received=of_tokens(attention_received(layer.attention, is_token)),
            **of_every_layer,
        )
        for index, (layer, norms) in enumerate(
            zip(batch.trace.layers, batch.value_norms, strict=True)
        )
    )
