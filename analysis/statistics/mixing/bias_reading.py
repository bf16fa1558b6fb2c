"""Effect of the bias's role in the attribution of activations: similarity, mixing ratio, pairs."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import Need, Setting
from analysis.scopes import BIAS_READINGS
from analysis.statistics.columns import named, number, single
from analysis.statistics.fit import FitContext
from analysis.statistics.means import means
from analysis.statistics.pairs.pair import OCCURRENCES, SOURCE, TARGET
from analysis.statistics.question import asks, placed
from analysis.statistics.rows import rows_of
from analysis.statistics.table import (
    LAYER,
    LAYER_OR_MEAN,
    N_SEQUENCES,
    SEQUENCE,
    Column,
    Table,
    interval,
)

TOP = 10
READING = named(
    "reading", "what the bias is on the way of the integral: player, constant or left_out"
)
PER_SEQUENCE = Table(
    name="sequence_bias_reading",
    grain="one row per compared sequence, layer and reading of the bias",
    key=(SEQUENCE, LAYER, READING),
    values=(
        single(
            "similarity",
            "Spearman's ρ of the maps before and after the feed-forward network; NULL where there "
            "is nothing to rank",
            "ρ",
            nullable=True,
        ),
        single("mixing_ratio", "mixing ratio after the feed-forward network, mean over tokens"),
        single(
            "relative_error",
            "what the parts and what is no token's miss of the layer's output at the worst token, "
            "over its length or that of its update",
            "ratio",
        ),
    ),
    source="sundararajan-2017",
    requires=("layer_completeness",),
    round_off=("relative_error",),
    needs=(Need.PAIRS,),
    laws=("similarity between -1 - 1e-6 and 1 + 1e-6", "mixing_ratio between 0 and 1 + 1e-6"),
    depends_on=(Setting.CHECKED,),
)
_CHANGES = tuple(
    single(reading, f"mean change of the share of w_j in w_i, bias {how}")
    for reading, how in zip(
        BIAS_READINGS, ("as a summand", "held constant", "left out"), strict=True
    )
)
PER_PAIR = Table(
    name="bias_reading_pair",
    grain="one row per layer and ordered pair of tokens that occurs twice in compared sequences",
    key=(LAYER, SOURCE, TARGET),
    values=(OCCURRENCES, *_CHANGES),
    source="sundararajan-2017",
    requires=("layer_completeness",),
    needs=(Need.PAIRS,),
    laws=("n >= 2", *(f"{column.name} between -1 - 1e-6 and 1 + 1e-6" for column in _CHANGES)),
    merge="""
        select layer, source, target, count(*)::integer as n, favg(player::double)::float as player,
            favg(constant::double)::float as constant, favg(left_out::double)::float as left_out
        from shards
        group by layer, source, target
        having count(*) >= 2
    """,
    raw=(LAYER, SOURCE, TARGET, *_CHANGES),
    piece="layer",
    depends_on=(Setting.CHECKED,),
)
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


def _rows(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per reading, for every layer and for their mean."""
    rows = store.execute(
        "select distinct layer from sequence_bias_reading where similarity is not null order by 1"
    ).fetchall()
    layers = [layer for (layer,) in rows]
    if not layers:
        return rows_of(table, [])
    kept = pd.concat([_kept(store, layer) for layer in layers], ignore_index=True)
    over_layers = kept.drop(columns="layer").groupby("reading").agg(lambda column: column.mean())
    parts = [(layer, kept[kept["layer"] == layer].drop(columns="layer")) for layer in layers]
    parts.append((None, over_layers.reset_index()))
    return rows_of(
        table, [_means(store, layer, context).merge(frame, on="reading") for layer, frame in parts]
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
    columns = {}
    for name, ranked in (("same_amplified", "desc"), ("same_attenuated", "asc")):
        first = {reading: _first(store, layer, reading, ranked) for reading in BIAS_READINGS}
        ours = first[BIAS_READINGS[0]]
        counts = [len(ours & pairs) if len(ours) == TOP else None for pairs in first.values()]
        columns[name] = pd.array(counts, dtype="Float64")
    return pd.DataFrame({"layer": layer, "reading": BIAS_READINGS, **columns})


def _first(store: DuckDBPyConnection, layer: int, reading: str, ranked: str) -> set:
    asked = _FIRST.format(by=f"{reading} {ranked}")
    return set(store.execute(asked, {"layer": layer, "top": TOP}).fetchall())


def _same(name: str, done: str) -> Column:
    """Return the column for the number of top pairs that stay the same."""
    return number(
        name,
        f"of the ten pairs that are {done} most with the bias as a summand, those that are so by "
        "this reading; over layers their mean; NULL where fewer than ten occur twice",
        "pairs",
        nullable=True,
    )


TABLE = Table(
    name="bias_reading",
    grain="one row per layer, or for their mean, and reading of the bias",
    key=(LAYER_OR_MEAN, READING),
    values=(
        number(
            "similarity",
            "mean over sequences of Spearman's ρ before and after the feed-forward network",
            "ρ",
        ),
        *interval("ρ", of="similarity"),
        number(
            "mixing_ratio", "mean over sequences of the mixing ratio after the feed-forward network"
        ),
        *interval("share", of="mixing_ratio"),
        _same("same_amplified", "amplified"),
        _same("same_attenuated", "attenuated"),
        N_SEQUENCES,
    ),
    source="sundararajan-2017",
    requires=("sequence_bias_reading", "bias_reading_pair"),
    made_by=_rows,
    needs=(Need.PAIRS,),
    laws=(
        "similarity between -1 - 1e-6 and 1 + 1e-6",
        "mixing_ratio between 0 and 1 + 1e-6",
        f"same_amplified between 0 and {TOP}",
        f"same_attenuated between 0 and {TOP}",
        f"reading <> 'player' or coalesce(same_amplified, {TOP}) = {TOP}",
    ),
    depends_on=(),
)


@asks(f"""
    from bias_reading
    order by layer nulls first, {placed(BIAS_READINGS, "reading")}
""")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every reading in the mean over the layers (NULL), then layer by layer."""
    ...
