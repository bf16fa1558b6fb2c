"""Joint distribution of attention weights and norms: a histogram, and some pairs drawn fairly."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.measures.norms.fair_sample import SAMPLE_SIZE
from analysis.statistics.columns import count, number, single, small
from analysis.statistics.question import asks
from analysis.statistics.table import CHOSEN, HEAD, LAYER, SEQUENCE, TOKEN_TYPE, Table

HISTOGRAM = Table(
    name="attention_norm_histogram",
    grain="one row per layer, head, token type, bin of α and bin of ‖f(x)‖ that is not empty",
    key=(
        LAYER,
        HEAD,
        TOKEN_TYPE,
        small("attention_bin", "float32 bits of α without the 21 lowest", "bin"),
        small("norm_bin", "float32 bits of ‖f(x)‖ without the 17 lowest", "bin"),
    ),
    values=(count("n", "pairs of an attending and an attended token", "pairs"),),
    source="kobayashi-2020",
    declared=CHOSEN,
    laws=("n > 0", "attention_bin between 0 and 508", "norm_bin >= 0"),
    merge="select layer, head, token_type, attention_bin, norm_bin, sum(n)::bigint as n "
    "from shards group by all",
    counted=True,
    depends_on=(),
)


_OCTAVES = """
    with cells as (
        select layer, head, token_type, n,
            greatest(attention_bin // 4 - 127 + log2(1 + (attention_bin % 4) / 4), -24) as alpha,
            norm_bin // 64 - 127 + log2(1 + (norm_bin % 64) / 64) as norm
        from attention_norm_histogram
        where norm_bin > 0 and ($layer is null or layer = $layer)
    ),
    centres as (
        select layer, head, token_type, sum(n * alpha) / sum(n) as alpha_centre,
            sum(n * norm) / sum(n) as norm_centre
        from cells
        group by all
    )
"""
"""Cells with their lower edges as powers of two, and the mean of these over the pairs of a head."""


@asks("""
    select
        token_type,
        least(greatest(attention_bin, 103 * 4), 127 * 4 - 1) // 2 as attention_bin,
        norm_bin // 16 as norm_bin,
        sum(n)::bigint as n
    from attention_norm_histogram
    where ($layer is null or layer = $layer) and ($head is null or head = $head)
    group by all
    order by all
""")
def densities(store: DuckDBPyConnection, *, layer: int | None, head: int | None) -> pd.DataFrame:
    """Number of pairs per cell by token type, in bins coarse enough to draw; None takes all.

    Returns:
        token_type, attention_bin (counts half octaves), norm_bin (counts quarter octaves), n.
        Weights under 2⁻²⁴ are in the lowest bin shown, weights of exactly 1 with those just below.
        A norm of exactly 0, which a log axis cannot show, is in norm_bin 0.
    """
    ...


@asks(f"""
    {_OCTAVES}
    select token_type, floor(2 * (alpha - alpha_centre))::int as attention_bin,
        floor(8 * (norm - norm_centre))::int as norm_bin, sum(n)::bigint as n
    from cells join centres using (layer, head, token_type)
    group by all
    order by all
""")
def densities_within(store: DuckDBPyConnection, *, layer: int | None) -> pd.DataFrame:
    """Number of pairs per cell, relative to geometric means over the pairs of a type in each head.

    None takes all layers.

    Returns:
        token_type, attention_bin (counts half octaves from the mean), norm_bin (counts eighths of
        an octave from it), n. Pairs with a norm of exactly 0 are left out.
    """
    ...


@asks(f"""
    {_OCTAVES}
    select layer, head, token_type, 2 ** alpha_centre as attention_centre,
        2 ** norm_centre as norm_centre
    from centres
    order by layer, head, token_type
""")
def centres(store: DuckDBPyConnection, *, layer: int | None) -> pd.DataFrame:
    """Geometric means over the pairs of a type, the origin of `densities_within`: layer, head,
    token_type, attention_centre, norm_centre."""
    ...


SAMPLE = Table(
    name="attention_norm_sample",
    grain=f"{SAMPLE_SIZE} rows per layer, head and token type, drawn uniformly from all its pairs",
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
    f"order by priority, seq, query_pos, key_pos) <= {SAMPLE_SIZE}",
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
