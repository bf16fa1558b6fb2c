"""Whether frequent words get more weight, or longer vectors."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.tables.table import Column, Table, interval

SOURCE = Column(
    "source", pa.string(), "corpus: counted in this corpus; file: given to the run", "name"
)
SPECIAL = Column("special_tokens", pa.bool_(), "whether cls and sep take part", "yes or no")
VALUES = (
    Column("n", pa.int64(), "token occurrences, masked places not among them", "tokens"),
    Column("spearman", pa.float64(), "ρ of frequency rank (1 = frequent) and quantity", "ρ", True),
    *interval("ρ"),
)
TABLE = Table(
    name="frequency_correlation",
    grain="one row per source of frequencies, quantity, and with or without cls and sep; masked "
    "places left out",
    key=(
        SOURCE,
        Column(
            "quantity", pa.string(), "attention or value_norm, mean over layers and heads", "name"
        ),
        SPECIAL,
    ),
    values=VALUES,
    source="kobayashi-2020",
    needs=(Need.FREQUENCY,),
    laws=("n > 0", "spearman is null or spearman between -1 - 1e-9 and 1 + 1e-9"),
)


def correlations(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every row."""
    return store.execute(
        "from frequency_correlation order by source desc, quantity, special_tokens desc"
    ).df()
