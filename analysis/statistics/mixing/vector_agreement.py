"""Rank correlation between rollout by products of maps and by vectors: means over sequences."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import number
from analysis.statistics.mixing.sequence_rollout import ROLLOUT
from analysis.statistics.question import frame_of
from analysis.statistics.table import LAYER_OR_MEAN, N_SEQUENCES, Table, interval

TABLE = Table(
    name="vector_agreement",
    grain="one row per layer, or for their mean, and scope, of the followed sequences",
    key=(LAYER_OR_MEAN, ROLLOUT),
    values=(
        number(
            "spearman",
            "mean over sequences of Spearman's ρ of shares by vectors and by the scope's "
            "multiplied maps",
            "ρ",
        ),
        *interval("ρ"),
        N_SEQUENCES,
    ),
    source="modarressi-2023",
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6", "low <= high", "n_sequences > 0"),
    depends_on=(),
)


def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every scope in every layer, the mean over the layers (NULL) last: layer, scope, spearman,
    low, high, n_sequences."""
    return frame_of(store, "from vector_agreement order by layer nulls last, scope")
