"""Arrangement of heads by their distances: points of a plane, a tree of groups, and layers."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.heads.head_map import head_layout, head_linkage
from analysis.measures.heads.permutation_tests import layer_cohesions
from analysis.statistics.columns import count, number, whole
from analysis.statistics.fit import FitContext
from analysis.statistics.heads.head_distance import stored_distances
from analysis.statistics.question import asks
from analysis.statistics.rows import rows_of
from analysis.statistics.table import HEAD, LAYER, LAYER_OR_ALL, Table
from analysis.statistics.weighing import WEIGHING, WEIGHINGS, WEIGHT, of_weights, one_weighing

_POINT = (
    number("x", "place along the axis on which heads differ most", "nats"),
    number("y", "place along the axis across it", "nats"),
)
_STRESS = number(
    "stress",
    "Kruskal's stress-1 of the whole plane: root of the sum of squared differences between "
    "distances in the plane and mean divergences, over the sum of squared distances in the plane; "
    "0 is exact, NULL where no two heads differ",
    "ratio",
    nullable=True,
)
_OF_LAYOUT = "one row per layer and head, of two heads or more"


def _layout(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the points of both weighings."""
    frames = []
    for weighing in WEIGHINGS:
        distances, layers, heads = stored_distances(store, weighing=weighing)
        layout = head_layout(distances, seed=context.seed)
        if layout is not None:
            x, y = layout.points.T
            columns = {"layer": layers, "head": heads, "x": x, "y": y, "stress": layout.stress}
            frames.append(pd.DataFrame({"weighing": weighing, **columns}))
    return rows_of(table, frames)


LAYOUT = Table(
    name="head_layout",
    grain="one row per weighing, layer and head, of two heads or more",
    key=(WEIGHING, LAYER, HEAD),
    values=(*_POINT, _STRESS),
    source="clark-2019",
    laws=("isfinite(x)", "isfinite(y)", "stress is null or stress >= 0"),
    shown_as="head_layout_weighing",
    views=(
        of_weights("head_layout", _OF_LAYOUT, (LAYER, HEAD, *_POINT)),
        of_weights(
            "head_layout_stress", _OF_LAYOUT, (LAYER, HEAD, *_POINT, _STRESS), table="head_layout"
        ),
    ),
    depends_on=(),
    version=2,
    requires=("head_distance",),
    made_by=_layout,
)


@asks(one_weighing("head_layout", order="layer, head"))
def layout(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """Position of every head, and the plane's stress in every row: layer, head, x, y, stress."""
    ...


_GROUP = (
    "0 to N − 1 are the heads, those of the first layer first; N + s is the group that step s made"
)
_STEP = whole("step", "step, counted from 0")
_JOINED = (
    whole("left", f"one group: {_GROUP}"),
    whole("right", "the other group, counted in the same way"),
    number(
        "height",
        "mean over their heads of the mean divergence of a head of one and a head of the other",
        "nats",
    ),
    whole("n_heads", "heads in both groups", "heads"),
)
_OF_LINKAGE = "one row per step that joins two groups of heads into one"


def _steps(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the steps of both weighings; none of fewer than two heads."""
    frames = []
    for weighing in WEIGHINGS:
        distances = stored_distances(store, weighing=weighing).distances
        steps = pd.DataFrame(
            head_linkage(distances), columns=["left", "right", "height", "n_heads"]
        )
        whole_numbers = dict.fromkeys(("left", "right", "n_heads"), np.int32)
        frames.append(steps.astype(whole_numbers).assign(weighing=weighing, step=range(len(steps))))
    return rows_of(table, frames)


LINKAGE = Table(
    name="head_linkage",
    grain="one row per weighing and step that joins two groups of heads into one",
    key=(WEIGHING, _STEP),
    values=_JOINED,
    source="sokal-1958",
    laws=("height >= 0", "n_heads >= 2", '"left" <> "right"'),
    shown_as="head_linkage_weighing",
    views=(of_weights("head_linkage", _OF_LINKAGE, (_STEP, *_JOINED)),),
    depends_on=(),
    version=2,
    requires=("head_distance",),
    made_by=_steps,
)


@asks(one_weighing("head_linkage", order="step"))
def steps(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """The steps in their order: step, left, right, height, n_heads."""
    ...


_DIVERGENCE = "mean over them of the mean divergence"
_COMPARED = (
    number("within", f"two heads of the same layer: {_DIVERGENCE}", "nats"),
    number("between", f"a head of the layer and one of another layer: {_DIVERGENCE}", "nats"),
    number(
        "difference", "between minus within; positive where heads of a layer are more alike", "nats"
    ),
    number(
        "p_value",
        "share of the ways to deal layers to heads that give as large a difference; of random "
        "ways (b + 1) / (B + 1) where b of B do",
        "probability",
    ),
    count(
        "n_permutations",
        "ways to deal layers to heads that were tried, all of them if fewer than 9,999",
        "permutations",
    ),
)
_OF_COHESION = "one row per layer with two heads or more, and one for all layers"


def _cohesion(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the rows of both weighings: of layers with two heads or more, and of all."""
    rows = []
    for weighing in WEIGHINGS:
        distances, layers, _ = stored_distances(store, weighing=weighing)
        cohesions = layer_cohesions(distances, layers, seed=context.seed)
        rows += [
            {"weighing": weighing, "layer": layer, **cohesion._asdict()}
            for layer, cohesion in cohesions.items()
        ]
    return pa.Table.from_pylist(rows, schema=table.schema)


COHESION = Table(
    name="layer_cohesion",
    grain="one row per weighing and layer with two heads or more, and one for all layers",
    key=(WEIGHING, LAYER_OR_ALL),
    values=_COMPARED,
    source="mantel-1967",
    laws=(
        "within >= 0 and between >= 0",
        "abs(difference - (between - within)) < 1e-9",
        "p_value > 0 and p_value <= 1",
        "n_permutations > 0",
    ),
    shown_as="layer_cohesion_weighing",
    views=(of_weights("layer_cohesion", _OF_COHESION, (LAYER_OR_ALL, *_COMPARED)),),
    depends_on=(),
    version=2,
    requires=("head_distance",),
    made_by=_cohesion,
)


@asks(one_weighing("layer_cohesion", order="layer nulls last"))
def cohesion(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """Every layer, then all (layer is NULL): layer, within, between, difference, p_value,
    n_permutations."""
    ...
