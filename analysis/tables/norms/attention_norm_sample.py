"""Some pairs of a weight and a norm, drawn fairly, for scatter plots."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.norms.attention_norm_sample import SAMPLE
from analysis.tables.table import HEAD, LAYER, SEQUENCE, TOKEN_TYPE, Column, Table

TABLE = Table(
    name="attention_norm_sample",
    grain=f"{SAMPLE} rows per layer, head and token type, drawn uniformly from all its pairs",
    key=(
        LAYER,
        HEAD,
        TOKEN_TYPE,
        Column("priority", pa.float64(), "draws of lower priority came first", "number"),
        SEQUENCE,
        Column("query_pos", pa.int16(), "position that attends, counted from 0", "index"),
        Column("key_pos", pa.int16(), "position attended to, counted from 0", "index"),
    ),
    values=(
        Column("attention", pa.float32(), "α of the pair", "share"),
        Column("value_norm", pa.float32(), "‖f(x)‖ of the attended token", "stream length"),
    ),
    source="kobayashi-2020",
    laws=("priority > 0", "attention between 0 and 1.0001", "value_norm >= 0"),
    merge="from shards qualify row_number() over (partition by layer, head, token_type "
    f"order by priority, seq, query_pos, key_pos) <= {SAMPLE}",
)


def scatter(
    store: DuckDBPyConnection, *, layer: int | None, head: int | None, limit: int
) -> pd.DataFrame:
    """A fair sample of pairs of what is chosen, at most `limit` of each token type.

    Returns:
        token_type, attention, value_norm, layer, head, seq, token (the one attended to).
    """
    return store.execute(
        """
        select s.token_type, s.attention::double as attention, s.value_norm::double as value_norm,
            s.layer, s.head, s.seq, t.token
        from attention_norm_sample s
        join token t on t.seq = s.seq and t.pos = s.key_pos
        where ($layer is null or s.layer = $layer) and ($head is null or s.head = $head)
        qualify row_number() over (partition by s.token_type order by s.priority) <= $limit
        order by s.token_type, s.priority
        """,
        {"layer": layer, "head": head, "limit": limit},
    ).df()
