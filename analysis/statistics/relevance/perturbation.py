"""Class probability of images under deletion and insertion of relevant patches: means."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import number
from analysis.statistics.question import asks, placed
from analysis.statistics.relevance.sequence_perturbation import CURVE, ORDER, ORDERS
from analysis.statistics.table import N_SEQUENCES, Table, interval

TABLE = Table(
    name="perturbation",
    grain="one row per rule or method or random order, curve and share of patches, or for the area "
    "under the curve",
    key=(
        ORDER,
        CURVE,
        number(
            "share",
            "share of the patches that are gone, or have come; NULL: the area under the curve",
            nullable=True,
        ),
    ),
    values=(
        number(
            "mean",
            "mean over images of the probability of the class predicted for the whole image",
            "probability",
        ),
        *interval("probability"),
        N_SEQUENCES,
    ),
    source="petsiuk-2018",
    needs=(Need.IMAGES, Need.CLASSES),
    laws=(
        "share is null or share between 0 and 1",
        "mean between 0 and 1 + 1e-5",
        "low <= high",
        "n_sequences > 0",
    ),
    order=("rule", "curve", "share"),
    depends_on=(),
)


@asks(f"""
    from perturbation
    where share is not null
    order by {placed(ORDERS, "rule")}, curve, share
""")
def curves(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every curve, `random` too: rule, curve, share, mean, low, high, n_sequences."""
    ...


@asks(f"""
    select rule, curve, mean, low, high
    from perturbation
    where share is null
    order by {placed(ORDERS, "rule")}, curve
""")
def areas(store: DuckDBPyConnection) -> pd.DataFrame:
    """The area under every curve, `random` too: rule, curve, mean, low, high."""
    ...
