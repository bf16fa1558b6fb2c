"""Mean curves of going and coming patches and the areas under them, with intervals."""

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.relevance.perturbation import TABLE
from analysis.tables.relevance.sequence_perturbation import STEPS
from precompute.passes.base import FitContext
from precompute.passes.intervals import by_sequence, rows_of, with_intervals

VERSION = 1
NEEDS = ("sequence_perturbation",)
_AREA = -1
"""In the place of a step: the area under the curve."""
_LONG = """
    select seq, rule, curve, unnest(range(0, len(probability))) as step,
        unnest(probability)::double as value
    from sequence_perturbation
    union all
    select seq, rule, curve, $area, area::double from sequence_perturbation
    order by all
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per rule, curve and share of patches, and one for the area under the curve."""
    rows = store.execute(_LONG, {"area": _AREA}).df()
    if rows.empty:
        return rows_of(TABLE, [])
    cells, sequences, values = by_sequence(rows, cell=["rule", "curve", "step"], value="value")
    means = with_intervals(cells, values, context.redraws(sequences))
    share = np.where(means["step"] == _AREA, np.nan, means["step"] / STEPS)
    return rows_of(TABLE, [means.drop(columns="step").assign(share=share)])
