"""Largest coordinates of hidden states by depth: in every sequence, in the mean, and which."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.sinks import ACTIVATIONS, MASSIVE, MASSIVE_RATIO
from analysis.statistics.columns import mean_values, number, quantity, single, whole
from analysis.statistics.fit import FitContext
from analysis.statistics.means import Means, mean_of, means
from analysis.statistics.rows import rows_of
from analysis.statistics.sinks.sink import DEPTH, PLACE_OR_ALL
from analysis.statistics.table import N_SEQUENCES, POSITION, SEQUENCE, Table, View, interval

_NAME = "sequence_massive_activation"
_KEY = (SEQUENCE, DEPTH, PLACE_OR_ALL)
_VALUES = (
    single("largest", "size of the largest coordinate of any token of the place", "stream length"),
    single("median", "median size of all coordinates of all tokens", "stream length"),
    POSITION,
    whole("coordinate", "which coordinate it is, counted from 0"),
)
PER_SEQUENCE = Table(
    name=_NAME,
    grain="one row per sequence, depth and place that the sequence has",
    key=_KEY,
    values=_VALUES,
    source="sun-2024",
    laws=(
        "largest >= 0 and median >= 0",
        "not isnan(largest + median)",
        "place <> 'all' or largest >= median",
        "depth >= 0 and coordinate >= 0",
    ),
    order=("place", "depth", "seq"),
    views=(
        View(
            _NAME,
            "one row per sequence, depth and place that the sequence has",
            (
                *_KEY,
                *_VALUES,
                number(
                    "ratio",
                    "largest over median; NULL where the median is 0",
                    "medians",
                    nullable=True,
                ),
            ),
            f"select *, largest::double / nullif(median, 0) as ratio from stored.{_NAME}",
        ),
    ),
    depends_on=(),
)
_OF_SEQUENCES = f"""
    unpivot (
        select seq, depth, place, largest::double as largest, ratio,
            (largest > {MASSIVE} and ratio > {MASSIVE_RATIO})::int::double as massive
        from sequence_massive_activation
    )
    on {", ".join(ACTIVATIONS)} into name quantity value mean
"""
_UNIT = "stream length, medians or share"
_MEANING = (
    "largest (size of the largest coordinate), ratio (that over the median), massive (whether it "
    f"is above {MASSIVE:g} and above {MASSIVE_RATIO:g} medians)"
)
_OF_SEQUENCE = (
    *PER_SEQUENCE.views[0].columns,
    number("massive", f"whether largest is above {MASSIVE:g} and above {MASSIVE_RATIO:g} medians"),
)
TABLE = Table(
    name="massive_activation",
    grain="one row per depth, place and quantity",
    key=(DEPTH, PLACE_OR_ALL, quantity(ACTIVATIONS, _OF_SEQUENCE, meaning=_MEANING)),
    values=mean_values(_UNIT),
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
    requires=(_NAME,),
    made_by=mean_of(Means(_OF_SEQUENCES, ["depth", "place", "quantity"])),
)
SHOWN = 5
"""Number of coordinates stored for every depth and place."""
_CELL = ["depth", "place", "coordinate"]
_FREQUENT = f"""
    select depth, place, coordinate, avg(largest)::double as largest
    from sequence_massive_activation
    group by depth, place, coordinate
    qualify row_number() over (
        partition by depth, place order by count(*) desc, coordinate
    ) <= {SHOWN}
"""
_HITS = f"""
    select seq, depth, place, frequent.coordinate,
        (found.coordinate = frequent.coordinate)::int::double as mean
    from sequence_massive_activation as found
    join ({_FREQUENT}) as frequent using (depth, place)
"""


def _shares(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the share of sequences, and the mean size, of every frequent coordinate."""
    hits = means(store, _HITS, context, cell=_CELL)
    sizes = store.execute(_FREQUENT).df()
    return rows_of(table, [hits.merge(sizes, on=_CELL)])


COORDINATE = Table(
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
    requires=(_NAME,),
    made_by=_shares,
)
