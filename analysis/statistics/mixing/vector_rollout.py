"""Rollout by vectors compared with rollout by products of maps."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import number
from analysis.statistics.mixing.rollout import OF_TOKENS, SHARE
from analysis.statistics.mixing.sequence_rollout import ROLLOUT
from analysis.statistics.question import asks
from analysis.statistics.table import LAYER, N_SEQUENCES, Table, interval, nullable

_DIFFERENCE = number("difference", "mean share by vectors less mean share by this scope")
TABLE = Table(
    name="vector_rollout",
    grain="one row per layer, scope, and token type or distance, of the followed sequences",
    key=(
        LAYER,
        nullable(ROLLOUT, f"{ROLLOUT.meaning}; vectors: none is, vectors are followed instead"),
        *OF_TOKENS,
    ),
    values=(
        *SHARE,
        nullable(_DIFFERENCE, f"{_DIFFERENCE.meaning}; NULL: it is by vectors"),
        *interval("share", of="difference"),
        N_SEQUENCES,
    ),
    source="modarressi-2023",
    laws=(
        "mean between 0 and 1 + 1e-4",
        "low <= high",
        "difference_low <= difference_high",
        "n_sequences > 0",
        "(token_type is null) <> (distance is null)",
    ),
    depends_on=(),
)


@asks("""
    select * exclude n_sequences, n_sequences::int as n_sequences
    from vector_rollout
    where list_contains($scopes, scope)
    order by layer, list_position($scopes, scope), token_type, distance
""")
def shares(store: DuckDBPyConnection, *, scopes: list[str]) -> pd.DataFrame:
    """Means and differences with intervals, by layer, scope, and token type or distance."""
    ...
