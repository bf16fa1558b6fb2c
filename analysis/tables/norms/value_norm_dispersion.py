"""How much ‖f(x)‖ varies from token to token."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.tables.norms.dispersion import DISPERSION, DISPERSION_LAWS
from analysis.tables.question import frame_of
from analysis.tables.table import HEAD_OR_ALL, LAYER_OR_ALL, Table

TABLE = Table(
    name="value_norm_dispersion",
    grain="one row per layer and head, and one for all heads pooled; all tokens, special ones too",
    key=(LAYER_OR_ALL, HEAD_OR_ALL),
    values=DISPERSION,
    source="kobayashi-2020",
    laws=DISPERSION_LAWS,
)


def by_head(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every row: layer, head (both missing = all pooled), n, mean, std, cv, min, max."""
    return frame_of(store, "from value_norm_dispersion order by layer nulls last, head")


def mean_cv(store: DuckDBPyConnection) -> float | None:
    """Mean over heads of the per-head coefficient of variation."""
    rows = store.execute(
        "select avg(cv) from value_norm_dispersion where layer is not null"
    ).fetchall()
    return rows[0][0]
