"""Errors of reconstructed scores, cross-covariances and attention against the model's own."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import single
from analysis.statistics.question import asks
from analysis.statistics.table import LAYER, SEQUENCE, Table

TABLE = Table(
    name="query_key_error",
    grain="one row per kept sequence and layer",
    key=(SEQUENCE, LAYER),
    values=(
        single(
            "score_error",
            "how far Q S Kᵀ is from the scores of the projections, over their length, for the "
            "worst query of any head",
            "ratio",
        ),
        single(
            "trace_error",
            "how far weighted cross-covariances are from the scores summed along diagonals, over "
            "the length of these sums, for the worst head",
            "ratio",
        ),
        single(
            "attention_error",
            "how far the softmax of Q S Kᵀ / √d' is from the model's own α, over the distance of "
            "α from even attention, for the worst query of any head",
            "ratio",
        ),
    ),
    source="yamamoto-2023",
    version=4,
    round_off=("score_error", "trace_error", "attention_error"),
    laws=("score_error >= 0", "trace_error >= 0", "attention_error >= 0"),
    depends_on=(),
)


@asks("""
    select layer,
        max(score_error)::double as score_error,
        max(trace_error)::double as trace_error,
        max(attention_error)::double as attention_error,
        count(*) as n_sequences
    from query_key_error
    group by layer
    order by layer
""")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """Largest errors by layer: layer, score_error, trace_error, attention_error, n_sequences."""
    ...
