"""Distances between the attention of any two heads, and arrangements of heads by them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.measures.heads.head_map import head_layout, head_linkage
from analysis.measures.heads.permutation_tests import (
    distance_agreement,
    layer_cohesions,
    layer_parts,
)
from analysis.statistics.base.columns import (
    HEAD,
    LAYER,
    correlation,
    count,
    nats,
    number,
    pooled,
    ratio,
    share,
    whole,
    with_names,
)
from analysis.statistics.base.correlations import OF_HEADS, laws_of_parts, parts, values_of_parts
from analysis.statistics.base.tables import FitContext, Table, View
from analysis.statistics.base.weighing import WEIGHING, WEIGHINGS, of_weights


def _head(side: str, which: str) -> tuple[Any, Any]:
    return (
        replace(LAYER, name=f"layer_{side}", meaning=f"layer of {which} head, counted from 1"),
        replace(HEAD, name=f"head_{side}", meaning=f"{which} head within its layer, from 1"),
    )


_TWO_HEADS = (*_head("a", "one"), *_head("b", "the other"))
_DISTANCE = {
    "divergence": nats(
        "Jensen–Shannon divergence of what the two heads attend to, summed over all rows of all "
        "sequences",
        least=0,
        exact=True,
    ),
    "n_rows": count(
        "rows that were compared: one per token that attends; of a long text those of evenly "
        "spaced tokens",
        "rows",
    ),
}
_DIVERGENCE, _N_ROWS = (column.typed(single=False) for column in with_names(_DISTANCE))
_BOTH = (
    *_TWO_HEADS,
    _DIVERGENCE,
    replace(
        _DIVERGENCE,
        name="mean_divergence",
        meaning="Jensen–Shannon divergence of what the two heads attend to, mean over rows",
    ),
    _N_ROWS,
)
_GRAIN = "two heads, in either order, and per head with itself"
HEAD_DISTANCE = Table(
    "head_distance",
    key=(WEIGHING, *_TWO_HEADS),
    source="clark-2019",
    note="the later head second, and each with itself; sums over sequences",
    laws=(
        "layer_a < layer_b or (layer_a = layer_b and head_a <= head_b)",
        "divergence <= n_rows * ln(2) * (1 + 1e-6)",
        "divergence = 0 or (layer_a, head_a) <> (layer_b, head_b)",
    ),
    merge="""
        select weighing, layer_a, head_a, layer_b, head_b, sum(divergence) as divergence,
            sum(n_rows)::bigint as n_rows
        from shards
        group by weighing, layer_a, head_a, layer_b, head_b
    """,
    views=(
        View(
            "head_distance_weighing",
            f"one row per weighing and {_GRAIN}",
            (WEIGHING, *_BOTH),
            """
            with pairs as (
                from stored.head_distance
                union all
                select weighing, layer_b, head_b, layer_a, head_a, divergence, n_rows
                from stored.head_distance
                where (layer_a, head_a) <> (layer_b, head_b)
            )
            select * exclude (n_rows), divergence / n_rows as mean_divergence, n_rows
            from pairs
            order by weighing, layer_a, head_a, layer_b, head_b
            """,
        ),
        View(
            "head_distance_mean",
            f"one row per {_GRAIN}",
            _BOTH,
            "select * exclude (weighing) from head_distance_weighing where weighing = 'weight' "
            "order by layer_a, head_a, layer_b, head_b",
        ),
        View(
            "head_distance",
            f"one row per {_GRAIN}",
            (*_TWO_HEADS, _DIVERGENCE),
            "select * exclude (mean_divergence, n_rows) from head_distance_mean",
        ),
    ),
    version=3,
    values=_DISTANCE,
)


class HeadMatrix(NamedTuple):
    """Mean divergences of all heads, and which layer and head each row and column is."""

    distances: Float[np.ndarray, "head head"]
    layers: Int[np.ndarray, " head"]
    heads: Int[np.ndarray, " head"]


def _of_both(store: DuckDBPyConnection) -> Iterator[tuple[str, HeadMatrix]]:
    """Yield the stored distances by weights, then by norms; layers and heads count from 1."""
    rows = """
        from head_distance_weighing where weighing = $weighing
        order by layer_a, head_a, layer_b, head_b"""
    for weighing in WEIGHINGS:
        frame = store.execute(rows, {"weighing": weighing}).df()
        heads = frame.drop_duplicates(["layer_a", "head_a"])
        yield (
            weighing,
            HeadMatrix(
                frame["mean_divergence"].to_numpy().reshape(len(heads), len(heads)),
                heads["layer_a"].to_numpy(dtype=np.int64),
                heads["head_a"].to_numpy(dtype=np.int64),
            ),
        )


def _agreement(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the rows of all heads, and of each; none of fewer than three heads.

    Heads are permuted, which no other table's are.
    """
    (_, weight), (_, norm) = _of_both(store)
    agreement = distance_agreement(weight.distances, norm.distances, seed=context.seed)
    if agreement is None:
        return table.rows([])
    found = layer_parts(weight.distances, norm.distances, weight.layers, seed=context.seed)
    n_others = len(weight.distances) - 1
    heads = pd.DataFrame(
        {
            "layer": weight.layers,
            "head": weight.heads,
            "weight": weight.distances.sum(axis=1) / n_others,
            "norm": norm.distances.sum(axis=1) / n_others,
            "spearman": agreement.of_heads,
            "same_nearest": agreement.same_nearest,
        }
    )
    heads = heads.join(pd.DataFrame([values_of_parts(OF_HEADS, of) for of in found.of_heads]))
    every = {**heads[["weight", "norm", "same_nearest"]].mean(), "spearman": agreement.spearman}
    every |= {"p_within": found.p_value, **values_of_parts(OF_HEADS, found.parts)}
    every |= {"p_value": agreement.p_value, "n_permutations": agreement.n_permutations}
    return table.rows([heads, pd.DataFrame([every])])


_FROM_OTHERS = "mean divergence from the other heads"
HEAD_DISTANCE_AGREEMENT = Table(
    "head_distance_agreement",
    key=(pooled(LAYER), pooled(HEAD, "for all heads of all layers")),
    source="mantel-1967",
    note="of three heads or more",
    laws=laws_of_parts(OF_HEADS),
    version=2,
    requires=("head_distance",),
    made_by=_agreement,
    values={
        "weight": nats(f"{_FROM_OTHERS} by weights", least=0),
        "norm": nats(f"{_FROM_OTHERS} by norms", least=0),
        "spearman": correlation(
            "Spearman's ρ of the distances by weights and by norms, over the other heads or, for "
            "all heads, over all pairs",
            null="where either are the same for all",
        ),
        **{name: of for name, of in parts(OF_HEADS).items() if not name.endswith(("low", "high"))},
        "same_nearest": share(
            "1 where the nearest head is the same by both, else 0; for all heads the share"
        ),
        "p_value": share(
            "share of the orders of the heads that give as large a ρ; of random orders "
            "(b + 1) / (B + 1) where b of B do",
            "probability",
            null="for a single head",
        ),
        "p_within": share(
            "share of 9,999 orders in which heads stay in their layer that give as large a part "
            "within layers, as (b + 1) / (B + 1) where b of B do",
            "probability",
            null="for a single head, or where nothing varies within layers",
        ),
        "n_permutations": count(
            "orders of the heads that were tried, all of them if fewer than 9,999",
            "permutations",
            null="for a single head",
        ),
    },
)


def _layout(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the points of both weighings, which all distances decide together."""
    frames = []
    for weighing, (distances, layers, heads) in _of_both(store):
        layout = head_layout(distances)
        if layout is not None:
            x, y = layout.points.T
            columns = {"layer": layers, "head": heads, "x": x, "y": y, "stress": layout.stress}
            frames.append(pd.DataFrame({"weighing": weighing, **columns}))
    return table.rows(frames)


HEAD_LAYOUT = Table(
    "head_layout",
    key=(WEIGHING, LAYER, HEAD),
    source="clark-2019",
    note="of two heads or more",
    shown_as="head_layout_weighing",
    views=(of_weights("head_layout", "stress"), of_weights("head_layout_stress")),
    version=3,
    requires=("head_distance",),
    made_by=_layout,
    values={
        "x": number("place along the axis on which heads differ most", "nats"),
        "y": number("place along the axis across it", "nats"),
        "stress": ratio(
            "Kruskal's stress-1 of the whole plane: root of the sum of squared differences "
            "between distances in the plane and mean divergences, over the sum of squared "
            "distances in the plane; 0 is exact",
            null="where no two heads differ",
        ),
    },
)


def _steps(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the steps of both weighings, none of fewer than two heads; each follows from those
    before."""
    names = ["left", "right", "height", "n_heads"]
    return table.rows(
        pd.DataFrame(head_linkage(distances), columns=names)
        .astype(dict.fromkeys(("left", "right", "n_heads"), np.int32))
        .rename_axis("step")
        .reset_index()
        .assign(weighing=weighing)
        for weighing, (distances, _, _) in _of_both(store)
    )


_GROUP = (
    "0 to N − 1 are the heads, those of the first layer first; N + s is the group that step s made"
)
HEAD_LINKAGE = Table(
    "head_linkage",
    key=(WEIGHING, whole("step, counted from 0", name="step")),
    source="sokal-1958",
    note="which joins two groups of heads into one",
    shown_as="head_linkage_weighing",
    views=(of_weights("head_linkage"),),
    laws=('"left" <> "right"',),
    version=2,
    requires=("head_distance",),
    made_by=_steps,
    values={
        "left": whole(f"one group: {_GROUP}"),
        "right": whole("the other group, counted in the same way"),
        "height": nats(
            "mean over their heads of the mean divergence of a head of one and a head of the other",
            least=0,
        ),
        "n_heads": whole("heads in both groups", "heads", least=2),
    },
)


def _cohesion(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the rows of both weighings, of layers with two heads or more and of all; layers are
    dealt to heads at random."""
    rows = [
        {"weighing": weighing, "layer": layer, **cohesion._asdict()}
        for weighing, (distances, layers, _) in _of_both(store)
        for layer, cohesion in layer_cohesions(distances, layers, seed=context.seed).items()
    ]
    return table.rows([pd.DataFrame(rows)])


_MEAN = "mean over them of the mean divergence"
LAYER_COHESION = Table(
    "layer_cohesion",
    key=(WEIGHING, pooled(LAYER)),
    source="mantel-1967",
    note="of layers with two heads or more",
    laws=("abs(difference - (between - within)) < 1e-9", "p_value > 0"),
    shown_as="layer_cohesion_weighing",
    views=(of_weights("layer_cohesion"),),
    version=2,
    requires=("head_distance",),
    made_by=_cohesion,
    values={
        "within": nats(f"two heads of the same layer: {_MEAN}", least=0),
        "between": nats(f"a head of the layer and one of another layer: {_MEAN}", least=0),
        "difference": number(
            "between minus within; positive where heads of a layer are more alike", "nats"
        ),
        "p_value": share(
            "share of the ways to deal layers to heads that give as large a difference; of "
            "random ways (b + 1) / (B + 1) where b of B do",
            "probability",
        ),
        "n_permutations": count(
            "ways to deal layers to heads that were tried, all of them if fewer than 9,999",
            "permutations",
        ),
    },
)
