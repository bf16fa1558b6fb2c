"""Whether frequent words get more weight, or longer vectors."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.table import Column, Table, interval

TABLE = Table(
    name="frequency_correlation",
    grain="one row per source of frequencies, quantity, and with or without special tokens",
    key=(
        Column(
            "source", pa.string(), "corpus: counted in this corpus; file: given to the run", "name"
        ),
        Column(
            "quantity", pa.string(), "attention or value_norm, mean over layers and heads", "name"
        ),
        Column("special_tokens", pa.bool_(), "whether cls and sep take part", "yes or no"),
    ),
    values=(
        Column("n", pa.int64(), "token occurrences", "tokens"),
        Column(
            "spearman", pa.float64(), "ρ of frequency rank (1 = frequent) and quantity", "ρ", True
        ),
        *interval("ρ"),
    ),
    source="kobayashi-2020",
    laws=("n > 0", "spearman is null or spearman between -1 - 1e-9 and 1 + 1e-9"),
)


def correlations(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every row."""
    return store.execute(
        "from frequency_correlation order by source desc, quantity, special_tokens desc"
    ).df()
