"""Agreement of two rules for gated networks, and closed gates, with their intervals."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.fit import FitContext
from analysis.statistics.means import means
from analysis.statistics.mixing.gate_rule_agreement import TABLE
from analysis.statistics.rows import rows_of

VERSION = 1
NEEDS = ("sequence_gate_rule",)
_SEQUENCES = """
    select seq, true as every, avg({quantity}::double) as mean
    from sequence_gate_rule
    where ($layer is null or layer = $layer) and spearman is not null
    group by seq
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row for every layer and one for their mean."""
    rows = store.execute(
        "select distinct layer from sequence_gate_rule where spearman is not null order by 1"
    ).fetchall()
    layers = [layer for (layer,) in rows]
    return rows_of(TABLE, [_means(store, layer, context) for layer in (None, *layers) if layers])


def _means(store: DuckDBPyConnection, layer: int | None, context: FitContext) -> pd.DataFrame:
    frames = []
    for quantity in ("spearman", "closed"):
        query = _SEQUENCES.format(quantity=quantity)
        names = {"mean": quantity, "low": f"{quantity}_low", "high": f"{quantity}_high"}
        frame = means(store, query, context, cell=["every"], asked={"layer": layer})
        frames.append(frame.rename(columns=names))
    merged = frames[0].merge(frames[1], on=["every", "n_sequences"])
    return merged.drop(columns="every").assign(layer=layer)
