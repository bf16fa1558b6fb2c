"""Share of sequences whose largest activation at a place is in a coordinate, with intervals."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.fit import FitContext
from analysis.statistics.means import means
from analysis.statistics.rows import rows_of
from analysis.statistics.sinks.massive_coordinate import SHOWN, TABLE

VERSION = 1
NEEDS = ("sequence_massive_activation",)
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


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per depth, place and frequent coordinate."""
    hits = means(store, _HITS, context, cell=_CELL)
    sizes = store.execute(_FREQUENT).df()
    return rows_of(TABLE, [hits.merge(sizes, on=_CELL)])
