"""Correlation of word frequency with attention weight and vector norm."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need, Setting
from analysis.statistics.agreement import BY_RANK
from analysis.statistics.columns import count, flag, number, text
from analysis.statistics.parts import OF_TOKENS, part_columns, part_laws
from analysis.statistics.question import asks
from analysis.statistics.table import Table, interval

SOURCE = text("source", "corpus: counted in this corpus; file: given to the run", "name")
SPECIAL = flag("special_tokens", "whether bos, cls and sep take part")
VALUES = (
    count("n", "token occurrences, masked places not among them", "tokens"),
    number("spearman", "ρ of frequency rank (1 = frequent) and quantity", "ρ", nullable=True),
    *interval("ρ"),
    *part_columns(OF_TOKENS),
)
LAWS = (
    "n > 0",
    "spearman is null or spearman between -1 - 1e-9 and 1 + 1e-9",
    *part_laws(OF_TOKENS),
)
TABLE = Table(
    name="frequency_correlation",
    grain="one row per source of frequencies, quantity, and with or without special tokens; masked "
    "places left out",
    key=(
        SOURCE,
        text("quantity", "attention or value_norm, mean over layers and heads", "name"),
        SPECIAL,
    ),
    values=VALUES,
    source="kobayashi-2020",
    declared=BY_RANK,
    needs=(Need.FREQUENCY,),
    laws=LAWS,
    depends_on=(Setting.FREQUENCIES,),
)


@asks("from frequency_correlation order by source desc, quantity, special_tokens desc")
def correlations(store: DuckDBPyConnection) -> pd.DataFrame:
    """All columns of every row."""
    ...
