"""Share of heads whose attention and scores prefer the same offset, per layer and pooled."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.positions.offset_agreement import (
    agreement,
    chance_agreement,
    layer_parts,
    rank_correlation,
)
from analysis.statistics.fit import FitContext
from analysis.statistics.parts import OF_HEADS, part_values
from analysis.statistics.positions.offset_agreement import COUNTINGS, MIN_DEPENDENCES, TABLE
from analysis.statistics.rows import rows_of

VERSION = 4
NEEDS = ("head_offset",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per way of counting, minimum dependence, and layer or all, with two heads or more."""
    heads = store.execute("from head_offset order by layer, head").df()
    layers: list[int | None] = [*sorted(set(heads["layer"].tolist())), None]
    rows = []
    for counting, columns in COUNTINGS.items():
        for least in MIN_DEPENDENCES:
            for layer in layers:
                chosen = heads[heads["dependence"] >= least].dropna(subset=list(columns))
                chosen = chosen if layer is None else chosen[chosen["layer"] == layer]
                if len(chosen) >= 2:
                    place = {"counting": counting, "min_dependence": least, "layer": layer}
                    rows.append(place | _numbers(chosen, columns, context.seed))
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _numbers(heads: pd.DataFrame, columns: tuple[str, str], seed: int) -> dict[str, float]:
    scores, attention = (heads[name].to_numpy().astype("int64") for name in columns)
    numbers: dict[str, float] = {
        "n_heads": len(heads),
        "chance": chance_agreement(scores, attention),
    }
    estimates = {
        "agreement": agreement(scores, attention, seed=seed),
        "spearman": rank_correlation(scores, attention, seed=seed),
    }
    for name, estimate in estimates.items():
        numbers |= {
            name: estimate.value,
            f"{name}_low": estimate.low,
            f"{name}_high": estimate.high,
        }
    if not np.isnan(numbers["spearman"]):
        parts = layer_parts(scores, attention, heads["layer"].to_numpy("int64"), seed=seed)
        numbers |= part_values(OF_HEADS, parts)
    return numbers
