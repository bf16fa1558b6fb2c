"""The pairs that change most, kept apart so that lists need not look through all pairs."""

import pyarrow as pa

from analysis.needs import Need
from analysis.tables.pairs.pair import (
    ERROR,
    FEW,
    OCCURRENCES,
    PAIR_DEGREES,
    PAIR_RELATION,
    PAIR_SEQUENCES,
    SOURCE,
    TARGET,
)
from analysis.tables.table import EFFECT, LAYER, Column, Table

KEPT = 300
MIN_COUNTS = (1, 2, 5, 10)
TABLE = Table(
    name="pair_extreme",
    grain=f"the first {KEPT} pairs of every layer, effect, direction, minimum count and relation",
    key=(
        LAYER,
        EFFECT,
        Column("amplified", pa.bool_(), "whether the change is above 0, or below", "yes or no"),
        Column("min_count", pa.int32(), "how often a pair occurs at least", "pairs"),
        PAIR_RELATION,
        Column("place", pa.int32(), "place in the order of the change, from 1", "index"),
    ),
    values=(
        SOURCE,
        TARGET,
        OCCURRENCES,
        PAIR_SEQUENCES,
        Column("mean", pa.float32(), "mean change over occurrences", "share"),
        Column(
            "std",
            pa.float32(),
            "sample standard deviation over occurrences; NULL for a single one",
            "share",
            nullable=True,
        ),
        Column("error", pa.float32(), f"{ERROR}; {FEW}", "share", nullable=True),
        PAIR_DEGREES,
    ),
    source="kobayashi-2024",
    needs=(Need.PAIRS,),
    laws=(
        "n >= min_count",
        f"place between 1 and {KEPT}",
        "mean <> 0 and (mean > 0) = amplified",
        "(std is null) = (n = 1)",
    ),
)
