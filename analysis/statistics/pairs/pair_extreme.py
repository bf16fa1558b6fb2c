"""The pairs that change most, kept apart so that lists need not look through all pairs."""

from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.scopes import EFFECTS, RELATIONS
from analysis.statistics.columns import flag, single, whole
from analysis.statistics.fit import FitContext
from analysis.statistics.pairs.pair import (
    ERROR,
    FEW,
    OCCURRENCES,
    PAIR_DEGREES,
    PAIR_RELATION,
    PAIR_SEQUENCES,
    SOURCE,
    TARGET,
)
from analysis.statistics.rows import nulls_where, table_of
from analysis.statistics.table import EFFECT, LAYER, Table

KEPT = 300
MIN_COUNTS = (1, 2, 5, 10)


def _lists_of_layers(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Rank the pairs of every layer, effect, direction, minimum count and relation."""
    layers = store.execute("select distinct layer from pair_delta_wide order by layer").fetchall()
    return pa.concat_tables(
        [table.schema.empty_table(), *(_of_layer(table, store, layer) for (layer,) in layers)]
    )


def _of_layer(table: Table, store: DuckDBPyConnection, layer: int) -> pa.Table:
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
        table,
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


TABLE = Table(
    name="pair_extreme",
    grain=f"the first {KEPT} pairs of every layer, effect, direction, minimum count and relation",
    key=(
        LAYER,
        EFFECT,
        flag("amplified", "whether the change is above 0, or below"),
        whole("min_count", "how often a pair occurs at least", "pairs"),
        PAIR_RELATION,
        whole("place", "place in the order of the change, from 1"),
    ),
    values=(
        SOURCE,
        TARGET,
        OCCURRENCES,
        PAIR_SEQUENCES,
        single("mean", "mean change over occurrences"),
        single(
            "std",
            "sample standard deviation over occurrences; NULL for a single one",
            nullable=True,
        ),
        single("error", f"{ERROR}; {FEW}", nullable=True),
        PAIR_DEGREES,
    ),
    source="kobayashi-2024",
    needs=(Need.PAIRS,),
    laws=(
        "n >= min_count",
        f"place between 1 and {KEPT}",
        "mean <> 0 and (mean > 0) = amplified",
        "(std is null) = (n = 1)",
    ),
    depends_on=(),
    version=2,
    requires=("pair_delta",),
    made_by=_lists_of_layers,
)
