"""Predicted classes of each sequence with their probabilities."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.agreement import CHOSEN
from analysis.statistics.columns import single, text
from analysis.statistics.question import asks
from analysis.statistics.table import SEQUENCE, Column, Table

RANKS = 5
"""Number of classes stored for each sequence, the likeliest first."""
TABLE = Table(
    name="class_prediction",
    grain=f"one row per sequence and class, of the {RANKS} likeliest; none without a classifier",
    key=(
        SEQUENCE,
        Column("rank", pa.uint8(), "rank of the class by its probability, from 1", "index"),
    ),
    values=(
        text("label", "what the model's configuration calls the class"),
        single("probability", "how likely the model finds the class", "probability"),
    ),
    source="petsiuk-2018",
    declared=CHOSEN,
    needs=(Need.CLASSES,),
    laws=("probability between 0 and 1 + 1e-5", f"rank between 1 and {RANKS}"),
    depends_on=(),
)


@asks("""
    select rank, label, probability::double as probability
    from class_prediction
    where seq = $seq
    order by rank
""")
def of_sequence(store: DuckDBPyConnection, *, seq: int) -> pd.DataFrame:
    """The likeliest classes of one sequence: rank, label, probability; the likeliest first."""
    ...
