"""The largest coordinate of each place's hidden states, before and after every layer."""

from analysis.statistics.columns import number, single, whole
from analysis.statistics.sinks.places import DEPTH, PLACE_OR_ALL
from analysis.statistics.table import POSITION, SEQUENCE, Table, View

_NAME = "sequence_massive_activation"
_KEY = (SEQUENCE, DEPTH, PLACE_OR_ALL)
_VALUES = (
    single("largest", "size of the largest coordinate of any token of the place", "stream length"),
    single("median", "median size of all coordinates of all tokens", "stream length"),
    POSITION,
    whole("coordinate", "which coordinate it is, counted from 0"),
)
TABLE = Table(
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
