"""Correlation of word frequency with mixing ratio."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need, Setting
from analysis.scopes import OF_RATIOS
from analysis.statistics.agreement import BY_RANK
from analysis.statistics.mixing.sequence_mixing_ratio import RATIO_SCOPE
from analysis.statistics.norms.frequency_correlation import LAWS, SOURCE, SPECIAL, VALUES
from analysis.statistics.question import asks, placed
from analysis.statistics.table import Table

TABLE = Table(
    name="ratio_frequency_correlation",
    grain="one row per source of frequencies, scope, and with or without special tokens; masked "
    "places left out",
    key=(SOURCE, RATIO_SCOPE, SPECIAL),
    values=VALUES,
    source="kobayashi-2021",
    declared=BY_RANK,
    needs=(Need.FREQUENCY,),
    laws=LAWS,
    depends_on=(Setting.FREQUENCIES,),
)


@asks(f"""
    from ratio_frequency_correlation
    order by source desc, {placed(OF_RATIOS, "scope")}, special_tokens desc
""")
def correlations(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every row, in the order of `OF_RATIOS`."""
    ...
