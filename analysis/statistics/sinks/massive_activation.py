"""Size of the largest coordinate of hidden states relative to others, by depth: means."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.sinks import ACTIVATIONS, MASSIVE, MASSIVE_RATIO
from analysis.statistics.columns import count, number, text
from analysis.statistics.question import asks
from analysis.statistics.sinks.places import DEPTH, PLACE_OR_ALL
from analysis.statistics.table import Table, interval

_UNIT = "stream length, medians or share"
_MEANING = (
    "largest (size of the largest coordinate), ratio (that over the median), massive (whether it "
    f"is above {MASSIVE:g} and above {MASSIVE_RATIO:g} medians)"
)
TABLE = Table(
    name="massive_activation",
    grain="one row per depth, place and quantity",
    key=(DEPTH, PLACE_OR_ALL, text("quantity", _MEANING, "name")),
    values=(
        number("mean", "unweighted mean over the sequences that have it", _UNIT),
        *interval(_UNIT),
        count("n_sequences", "sequences that have it", "sequences"),
    ),
    source="sun-2024",
    laws=(
        "mean >= 0 and isfinite(mean)",
        "quantity <> 'massive' or mean <= 1",
        "low <= high",
        f"quantity in ({', '.join(map(repr, ACTIVATIONS))})",
        "n_sequences > 0",
    ),
    order=("place", "quantity", "depth"),
    depends_on=(),
)


@asks("""
    select depth, place, quantity, mean, low, high, n_sequences
    from massive_activation
    order by depth, place, quantity
""")
def by_depth(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every place and quantity: depth, place, quantity, mean, low, high, n_sequences."""
    ...
