"""Spearman's ρ of PMI and mean change, by layer, step and how often pairs occur."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.pair_pmi_correlation import spearman
from analysis.tables.corpus import layer_order
from analysis.tables.pair_pmi_correlation import MIN_COUNTS, TABLE
from precompute.passes.base import FitContext

VERSION = 1
NEEDS = ("pair_delta", "pair")


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, effect and minimum count where there are pairs to rank."""
    layers = store.execute("select distinct layer from pair_delta_wide order by layer").fetchall()
    effects = tuple(layer_order(store).effects)
    rows = [
        row for (layer,) in layers for row in _rows(_pairs(store, layer, effects), layer, effects)
    ]
    return pa.Table.from_pylist(rows, schema=TABLE.schema)


def _pairs(store: DuckDBPyConnection, layer: int, effects: tuple[str, ...]) -> pd.DataFrame:
    """n, pmi and mean changes of the pairs without special tokens that occur often enough."""
    means = ", ".join(f"mean_{effect} as {effect}" for effect in effects)
    return store.execute(
        f"""
        select n, pmi, {means}
        from pair_delta_wide
        join pair using (n, source, target)
        where layer = $layer and n >= $least and not has_special
        order by source, target
        """,
        {"layer": layer, "least": min(MIN_COUNTS)},
    ).df()


def _rows(pairs: pd.DataFrame, layer: int, effects: tuple[str, ...]) -> list[dict]:
    rows = []
    for least in MIN_COUNTS:
        chosen = pairs[pairs["n"] >= least]
        pmi = chosen["pmi"].to_numpy()
        found = {effect: spearman(pmi, chosen[effect].to_numpy()) for effect in effects}
        rows += [
            {
                "layer": layer,
                "effect": effect,
                "min_count": least,
                "n_pairs": len(chosen),
                "spearman": correlation,
            }
            for effect, correlation in found.items()
            if correlation is not None
        ]
    return rows
