"""The pairs that change most, kept apart so that lists need not look through all pairs."""

from analysis.needs import Need
from analysis.statistics.columns import flag, single, whole
from analysis.statistics.pairs.pair import (
    ERROR,
    FEW,
    OCCURRENCES,
    PAIR_DEGREES,
    PAIR_RELATION,
    PAIR_SEQUENCES,
    SOURCE,
    TARGET,
)
from analysis.statistics.table import EFFECT, LAYER, Table

KEPT = 300
MIN_COUNTS = (1, 2, 5, 10)
TABLE = Table(
    name="pair_extreme",
    grain=f"the first {KEPT} pairs of every layer, effect, direction, minimum count and relation",
    key=(
        LAYER,
        EFFECT,
        flag("amplified", "whether the change is above 0, or below"),
        whole("min_count", "how often a pair occurs at least", "pairs"),
        PAIR_RELATION,
        whole("place", "place in the order of the change, from 1"),
    ),
    values=(
        SOURCE,
        TARGET,
        OCCURRENCES,
        PAIR_SEQUENCES,
        single("mean", "mean change over occurrences"),
        single(
            "std",
            "sample standard deviation over occurrences; NULL for a single one",
            nullable=True,
        ),
        single("error", f"{ERROR}; {FEW}", nullable=True),
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
    depends_on=(),
)
