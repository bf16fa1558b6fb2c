"""Difference of head habits by norms and by weights, with intervals over sequences."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.habits import HABITS, TOKEN_TYPES
from analysis.statistics.fit import FitContext
from analysis.statistics.heads.head_pattern_difference import TABLE
from analysis.statistics.means import means
from analysis.statistics.rows import rows_of

VERSION = 4
NEEDS = ("sequence_head_pattern", "head_pattern")
_PAIRED = ", ".join(f'norm."{habit}" - weight."{habit}" as "{habit}"' for habit in HABITS)
_COLUMNS = ", ".join(f'"{habit}"' for habit in HABITS)
_AVERAGES = ", ".join(f'avg("{habit}") as "{habit}"' for habit in HABITS)
_CHANGES = f"""
    select weight.seq, weight.layer, weight.head, {_PAIRED}
    from sequence_head_pattern as weight
    join sequence_head_pattern_weighing as norm using (seq, layer, head)
    where norm.weighing = 'norm'
"""
_LONG = f"on {_COLUMNS} into name quantity value difference"
_OF_HEADS = f"unpivot ({_CHANGES}) {_LONG}"
_OF_LAYERS = f"unpivot (select seq, layer, {_AVERAGES} from ({_CHANGES}) group by all) {_LONG}"
_MEANS = """
    select layer, head, quantity, any_value(mean) filter (weighing = 'weight') as weight,
        any_value(mean) filter (weighing = 'norm') as norm
    from head_pattern_weighing
    group by layer, head, quantity
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, head (or their mean) and habit that some sequence has."""
    both = store.sql(_MEANS).df()
    frames = []
    for sql, cell in (
        (_OF_HEADS, ["layer", "head", "quantity"]),
        (_OF_LAYERS, ["layer", "quantity"]),
    ):
        changes = means(store, sql, context, cell=cell, value="difference", zero=TOKEN_TYPES)
        of_kind = both[both["head"].notna() == ("head" in cell)]
        frames.append(changes.merge(of_kind[[*cell, "weight", "norm"]], on=cell))
    return rows_of(TABLE, frames)
