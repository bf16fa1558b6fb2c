"""Some pairs of a weight and a norm, drawn fairly, for scatter plots."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.measures.norms.fair_sample import SAMPLE
from analysis.statistics.columns import number, single, small
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, TOKEN_TYPE, Table

TABLE = Table(
    name="attention_norm_sample",
    grain=f"{SAMPLE} rows per layer, head and token type, drawn uniformly from all its pairs",
    key=(
        LAYER,
        HEAD,
        TOKEN_TYPE,
        number("priority", "draws of lower priority came first", "number"),
        SEQUENCE,
        small("query_pos", "position that attends, counted from 0"),
        small("key_pos", "position attended to, counted from 0"),
    ),
    values=(
        single("attention", "α of the pair"),
        single("value_norm", "‖f(x)‖ of the attended token", "stream length"),
    ),
    source="kobayashi-2020",
    laws=("priority > 0", "attention between 0 and 1.0001", "value_norm >= 0"),
    merge="from shards qualify row_number() over (partition by layer, head, token_type "
    f"order by priority, seq, query_pos, key_pos) <= {SAMPLE}",
    depends_on=(),
    version=3,
)


@asks("""
    select s.token_type, s.attention::double as attention, s.value_norm::double as value_norm,
        s.layer, s.head, s.seq, t.token
    from attention_norm_sample s
    join token t on t.seq = s.seq and t.pos = s.key_pos
    where ($layer is null or s.layer = $layer) and ($head is null or s.head = $head)
    qualify row_number() over (partition by s.token_type order by s.priority) <= $limit
    order by s.token_type, s.priority
""")
def scatter(
    store: DuckDBPyConnection, *, layer: int | None, head: int | None, limit: int
) -> pd.DataFrame:
    """A random sample of the chosen pairs, at most `limit` of each token type: token_type,
    attention, value_norm, layer, head, seq, token (the attended one)."""
    ...
