"""How nearly the parts of each layer add up to what the model computed."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.tables.columns import count, single, small, whole
from analysis.tables.question import asks
from analysis.tables.table import LAYER, SEQUENCE, Table, View

WORST_TOKEN = (
    small("worst_pos", "position of the token with the largest error"),
    single("percentile_99", "error that 99% of the tokens do not exceed", "ratio"),
)
"""Where a sequence's largest error is, and what nearly all of its tokens stay below."""
TABLE = Table(
    name="completeness",
    grain="one row per sequence and layer",
    key=(SEQUENCE, LAYER),
    values=(
        single(
            "relative_error",
            "largest error of a token: the length of what the parts miss of the attention block's "
            "output, over the length of that output",
            "ratio",
        ),
        *WORST_TOKEN,
        single("attention_sum_error", "largest distance from 1 of a row of attention weights"),
    ),
    source="kobayashi-2020",
    laws=("relative_error >= 0", "attention_sum_error >= 0"),
    shown_as="sequence_completeness",
    views=(
        View(
            "completeness",
            "one row per layer: the worst of all sequences, attention blocks and whole layers",
            (
                LAYER,
                single("worst_relative_error", "largest relative error", "ratio"),
                count("n_sequences", "sequences checked", "sequences"),
                single(
                    "percentile_99",
                    "error that 99% of the tokens of every sequence do not exceed",
                    "ratio",
                ),
                whole("worst_seq", "sequence with the largest error"),
                WORST_TOKEN[0],
            ),
            """
            select layer,
                max(relative_error) as worst_relative_error,
                count(distinct seq) as n_sequences,
                max(percentile_99) as percentile_99,
                arg_max({'seq': seq, 'pos': worst_pos}, relative_error).seq as worst_seq,
                arg_max({'seq': seq, 'pos': worst_pos}, relative_error).pos as worst_pos
            from (
                select seq, layer, relative_error, worst_pos, percentile_99
                from stored.completeness
                union all
                select seq, layer, relative_error, worst_pos, percentile_99
                from stored.layer_completeness
            )
            group by layer
            """,
        ),
    ),
)


@asks("""
    select layer,
        max(block.relative_error)::double as worst_relative_error,
        arg_max(seq, block.relative_error) as worst_seq,
        arg_max(block.worst_pos, block.relative_error) as worst_pos,
        max(block.percentile_99)::double as percentile_99,
        max(attention_sum_error)::double as worst_attention_sum_error,
        max(whole.relative_error)::double as worst_layer_error,
        arg_max(seq, whole.relative_error) as worst_layer_seq,
        arg_max(whole.worst_pos, whole.relative_error) as worst_layer_pos,
        max(whole.percentile_99)::double as layer_percentile_99,
        count(*) as n_sequences
    from sequence_completeness as block
    left join layer_completeness as whole using (seq, layer)
    group by layer
    order by layer
""")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """The worst of every layer; what whole layers miss is NaN where they were not taken apart:
    layer, worst_relative_error, worst_seq, worst_pos, percentile_99, worst_attention_sum_error,
    worst_layer_error, worst_layer_seq, worst_layer_pos, layer_percentile_99, n_sequences."""
    ...
