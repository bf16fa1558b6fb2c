"""Attention of every head to each place of every sequence, with baselines."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.sinks import RATE_ROUNDING
from analysis.statistics.columns import single
from analysis.statistics.question import asks
from analysis.statistics.sinks.places import PLACE
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table

ROUNDING = 0.02
"""Largest violation of a bound in bfloat16, whose rows of attention do not quite sum to 1."""
MEANINGS = {
    "attention": (
        "Σ α over the tokens of the place, mean over the queries that may look at any of them",
        "share",
    ),
    "even": ("the same of a head that attends to everything alike", "share"),
    "neighbour": (
        "the same of as many tokens beside: of each the next one, of the last the one before",
        "share",
    ),
    "norm_share": ("the same of ‖αf(x)‖, every row scaled to a sum of 1", "share"),
    "value_norm": ("mean ‖f(x)‖ of the tokens of the place", "stream length"),
    "relative_norm": (
        "mean ‖f(x)‖ of the tokens of the place over that of all others",
        "ratio",
    ),
}
_MAY_LACK = ("neighbour", "relative_norm")
TABLE = Table(
    name="sequence_sink",
    grain="one row per sequence, layer, head and place that the sequence has",
    key=(SEQUENCE, LAYER, HEAD, PLACE),
    values=tuple(
        single(
            name,
            f"{meaning}; NULL where there are no others" if name in _MAY_LACK else meaning,
            unit,
            nullable=name in _MAY_LACK,
        )
        for name, (meaning, unit) in MEANINGS.items()
    ),
    source="gu-2025",
    laws=(
        *(
            f"{name} is null or {name} between 0 and {1 + ROUNDING}"
            for name, (_, unit) in MEANINGS.items()
            if unit == "share" and name != "neighbour"
        ),
        f"neighbour is null or neighbour between 0 and {2 * (1 + ROUNDING)}",
        "even > 0",
        "value_norm >= 0 and isfinite(value_norm)",
        "relative_norm is null or (relative_norm >= 0 and isfinite(relative_norm))",
    ),
    order=("place", "layer", "head", "seq"),
    depends_on=(),
)


@asks(f"""
    select avg((attention::double > $threshold + {RATE_ROUNDING})::int) as rate,
        avg(attention::double) as attention, avg(norm_share::double) as norm_share,
        count(*) as n
    from sequence_sink
    where place = $place and layer = $layer and head = $head
    having count(*) > 0
""")
def of_head(
    store: DuckDBPyConnection, *, place: str, layer: int, head: int, threshold: float
) -> pd.DataFrame:
    """Share of sequences in which a head gives a place more than a threshold, and its mean
    attention: rate, attention, norm_share, n; no row without a sequence."""
    ...


@asks("""
    select seq, n_tokens, text, attention::double as attention, even::double as even,
        norm_share::double as norm_share
    from sequence_sink join sequence using (seq)
    where place = $place and layer = $layer and head = $head
    order by if($weakest, 1, -1) * attention, seq
    limit $limit
""")
def extremes(
    store: DuckDBPyConnection, *, place: str, layer: int, head: int, weakest: bool, limit: int
) -> pd.DataFrame:
    """The sequences with the highest, or lowest, attention of a head to a place: seq, n_tokens,
    text, attention, even, norm_share."""
    ...
