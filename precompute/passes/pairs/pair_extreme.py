"""The pairs that every step of every layer amplifies and attenuates most."""

from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.scopes import EFFECTS, RELATIONS
from analysis.statistics.fit import FitContext
from analysis.statistics.pairs.pair_extreme import KEPT, MIN_COUNTS, TABLE
from analysis.statistics.rows import nulls_where, table_of

VERSION = 2
NEEDS = ("pair_delta",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per place in the lists of every layer, effect, direction, count and relation."""
    layers = store.execute("select distinct layer from pair_delta_wide order by layer").fetchall()
    return pa.concat_tables(
        [TABLE.schema.empty_table(), *(_of_layer(store, layer) for (layer,) in layers)]
    )


def _of_layer(store: DuckDBPyConnection, layer: int) -> pa.Table:
    pairs = store.execute("from pair_delta_wide where layer = $layer", {"layer": layer}).df()
    lists = [
        (effect, amplified, least, relation, chosen)
        for least, relation in product(MIN_COUNTS, range(len(RELATIONS)))
        for effect, amplified, chosen in _lists(
            pairs, np.flatnonzero((pairs["n"] >= least) & (pairs["relation"] == relation))
        )
    ]
    effects, amplified, least, relation, chosen = zip(*lists, strict=True)
    lengths = [len(places) for places in chosen]
    rows = pairs.iloc[np.concatenate(chosen)]
    effect = np.repeat(effects, lengths).astype(np.int8)
    place_and_effect = np.arange(len(rows)), effect
    spread = {
        "std": _of_effects(rows, "std")[place_and_effect],
        "error": _of_effects(rows, "error")[place_and_effect],
        "degrees": rows["degrees"].to_numpy(),
    }
    return table_of(
        TABLE,
        layer=rows["layer"].to_numpy(),
        effect=pa.DictionaryArray.from_arrays(effect, pa.array(list(EFFECTS))),
        amplified=np.repeat(amplified, lengths),
        min_count=np.repeat(least, lengths),
        relation=np.repeat(relation, lengths),
        place=np.concatenate([np.arange(1, length + 1) for length in lengths]),
        **{name: rows[name].to_numpy() for name in ("source", "target", "n", "n_sequences")},
        mean=_of_effects(rows, "mean")[place_and_effect],
        **{name: nulls_where(values) for name, values in spread.items()},
    )


def _of_effects(rows: pd.DataFrame, quantity: str) -> np.ndarray:
    return rows[[f"{quantity}_{effect}" for effect in EFFECTS]].to_numpy()


def _lists(pairs: pd.DataFrame, chosen: np.ndarray) -> list[tuple[int, bool, np.ndarray]]:
    """The lists of some pairs in every effect and direction: where they stand, largest first."""
    ids = [pairs[side].to_numpy()[chosen] for side in ("target", "source")]
    means = [pairs[f"mean_{effect}"].to_numpy()[chosen] for effect in EFFECTS]
    return [
        (effect, amplified, chosen[_largest(mean if amplified else -mean, *ids)])
        for (effect, mean), amplified in product(enumerate(means), (True, False))
    ]


def _largest(values: np.ndarray, target: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Places of the `KEPT` largest values above 0; equal ones by the ids of source and target."""
    places = np.flatnonzero(values > 0)
    if len(places) > KEPT:
        least = np.partition(values[places], -KEPT)[-KEPT]
        places = places[values[places] >= least]
    return places[np.lexsort((target[places], source[places], -values[places]))][:KEPT]
