"""Similarity, mixing ratio and first pairs under each reading of the bias, side by side."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.scopes import BIAS_READINGS
from analysis.statistics.fit import FitContext
from analysis.statistics.means import means
from analysis.statistics.mixing.bias_reading import TABLE, TOP
from analysis.statistics.rows import rows_of

VERSION = 1
NEEDS = ("sequence_bias_reading", "bias_reading_pair")
_SEQUENCES = """
    select seq, reading, avg({quantity}::double) as mean
    from sequence_bias_reading
    where ($layer is null or layer = $layer) and similarity is not null
    group by seq, reading
"""
_FIRST = """
    select source, target
    from bias_reading_pair
    where layer = $layer
    order by {by}, source, target
    limit $top
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per reading, for every layer and for their mean."""
    rows = store.execute(
        "select distinct layer from sequence_bias_reading where similarity is not null order by 1"
    ).fetchall()
    layers = [layer for (layer,) in rows]
    if not layers:
        return rows_of(TABLE, [])
    kept = pd.concat([_kept(store, layer) for layer in layers], ignore_index=True)
    over_layers = kept.drop(columns="layer").groupby("reading").agg(lambda column: column.mean())
    parts = [(layer, kept[kept["layer"] == layer].drop(columns="layer")) for layer in layers]
    parts.append((None, over_layers.reset_index()))
    return rows_of(
        TABLE, [_means(store, layer, context).merge(frame, on="reading") for layer, frame in parts]
    )


def _means(store: DuckDBPyConnection, layer: int | None, context: FitContext) -> pd.DataFrame:
    frames = []
    for quantity in ("similarity", "mixing_ratio"):
        query, asked = _SEQUENCES.format(quantity=quantity), {"layer": layer}
        names = {"mean": quantity, "low": f"{quantity}_low", "high": f"{quantity}_high"}
        frames.append(means(store, query, context, cell=["reading"], asked=asked))
        frames[-1] = frames[-1].rename(columns=names)
    return frames[0].merge(frames[1], on=["reading", "n_sequences"]).assign(layer=layer)


def _kept(store: DuckDBPyConnection, layer: int) -> pd.DataFrame:
    """Number of the first reading's top pairs that are among each reading's own."""
    rows = []
    for ranked in ("desc", "asc"):
        first = {reading: _first(store, layer, reading, ranked) for reading in BIAS_READINGS}
        ours = first[BIAS_READINGS[0]]
        rows.append([len(ours & pairs) if len(ours) == TOP else None for pairs in first.values()])
    amplified, attenuated = (pd.array(counts, dtype="Float64") for counts in rows)
    return pd.DataFrame(
        {
            "layer": layer,
            "reading": BIAS_READINGS,
            "same_amplified": amplified,
            "same_attenuated": attenuated,
        }
    )


def _first(store: DuckDBPyConnection, layer: int, reading: str, ranked: str) -> set:
    asked = _FIRST.format(by=f"{reading} {ranked}")
    return set(store.execute(asked, {"layer": layer, "top": TOP}).fetchall())
