"""How nearly the parts of each layer add up to what the model computed."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.table import LAYER, SEQUENCE, Column, Table, View

LIMITS = {"float32": 1e-3, "bfloat16": 5e-2}
_ERRORS = (
    Column(
        "relative_error",
        pa.float32(),
        "largest difference between the attention block and the sum of its parts, "
        "over the largest output",
        "ratio",
    ),
    Column(
        "attention_sum_error",
        pa.float32(),
        "largest distance from 1 of a row of attention weights",
        "share",
    ),
)
TABLE = Table(
    name="completeness",
    grain="one row per sequence and layer",
    key=(SEQUENCE, LAYER),
    values=_ERRORS,
    source="kobayashi-2020",
    laws=("relative_error >= 0", "attention_sum_error >= 0"),
    views=(
        View(
            "completeness",
            "one row per layer: the worst of all sequences, attention blocks and whole layers",
            (
                LAYER,
                Column("worst_relative_error", pa.float32(), "largest relative error", "ratio"),
                Column("n_sequences", pa.int64(), "sequences checked", "sequences"),
            ),
            """
            select layer,
                max(greatest(block.relative_error, whole.relative_error)) as worst_relative_error,
                count(*) as n_sequences
            from stored.completeness as block
            left join stored.layer_completeness as whole using (seq, layer)
            group by layer
            """,
        ),
        View(
            "sequence_completeness",
            "one row per sequence and layer",
            (SEQUENCE, LAYER, *_ERRORS),
            "from stored.completeness",
        ),
    ),
)


def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """The worst of every layer; what whole layers miss is NaN where they were not taken apart.

    Returns:
        layer, worst_relative_error, worst_attention_sum_error, worst_seq, worst_layer_error,
        worst_layer_seq, n_sequences.
    """
    return store.execute(
        """
        select layer,
            max(block.relative_error)::double as worst_relative_error,
            max(attention_sum_error)::double as worst_attention_sum_error,
            arg_max(seq, block.relative_error) as worst_seq,
            max(whole.relative_error)::double as worst_layer_error,
            arg_max(seq, whole.relative_error) as worst_layer_seq,
            count(*) as n_sequences
        from sequence_completeness as block
        left join layer_completeness as whole using (seq, layer)
        group by layer
        order by layer
        """
    ).df()
