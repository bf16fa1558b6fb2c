"""Coordinates of the largest activations, and the share of sequences with the same one."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import number, whole
from analysis.statistics.question import asks
from analysis.statistics.sinks.places import DEPTH, PLACE_OR_ALL
from analysis.statistics.table import N_SEQUENCES, Table, interval

SHOWN = 5
"""Number of coordinates stored for every depth and place."""
TABLE = Table(
    name="massive_coordinate",
    grain=f"one row per depth, place and coordinate, the {SHOWN} most frequent",
    key=(DEPTH, PLACE_OR_ALL, whole("coordinate", "which coordinate it is, counted from 0")),
    values=(
        number("mean", "share of sequences whose largest activation of the place is in it"),
        *interval("share"),
        number("largest", "mean size of the activation in those sequences", "stream length"),
        N_SEQUENCES,
    ),
    source="sun-2024",
    laws=("mean > 0 and mean <= 1", "low <= high", "largest >= 0", "n_sequences > 0"),
    order=("place", "depth", "mean desc", "coordinate"),
    depends_on=(),
)


@asks("""
    select depth, coordinate, mean, low, high, largest, n_sequences
    from massive_coordinate
    where place = $place
    order by depth, mean desc, coordinate
""")
def by_depth(store: DuckDBPyConnection, *, place: str) -> pd.DataFrame:
    """The most frequent coordinates of a place: depth, coordinate, mean, low, high, largest,
    n_sequences."""
    ...
