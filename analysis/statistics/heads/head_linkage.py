"""Hierarchical clustering of heads: groups joined from the nearest to the farthest."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.heads.head_map import head_linkage
from analysis.statistics.columns import number, whole
from analysis.statistics.fit import FitContext
from analysis.statistics.heads.head_distance import stored_distances
from analysis.statistics.norms.weighing import (
    WEIGHING,
    WEIGHINGS,
    WEIGHT,
    of_weights,
    one_weighing,
)
from analysis.statistics.question import asks
from analysis.statistics.rows import rows_of
from analysis.statistics.table import Table

_GROUP = (
    "0 to N − 1 are the heads, those of the first layer first; N + s is the group that step s made"
)
_KEY = whole("step", "step, counted from 0")
_VALUES = (
    whole("left", f"one group: {_GROUP}"),
    whole("right", "the other group, counted in the same way"),
    number(
        "height",
        "mean over their heads of the mean divergence of a head of one and a head of the other",
        "nats",
    ),
    whole("n_heads", "heads in both groups", "heads"),
)
_NAME, _GRAIN = "head_linkage", "one row per step that joins two groups of heads into one"


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


TABLE = Table(
    name=_NAME,
    grain="one row per weighing and step that joins two groups of heads into one",
    key=(WEIGHING, _KEY),
    values=_VALUES,
    source="sokal-1958",
    laws=("height >= 0", "n_heads >= 2", '"left" <> "right"'),
    shown_as="head_linkage_weighing",
    views=(of_weights(_NAME, _GRAIN, (_KEY, *_VALUES)),),
    depends_on=(),
    version=2,
    requires=("head_distance",),
    made_by=_steps,
)


@asks(one_weighing("head_linkage", order="step"))
def steps(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """The steps in their order: step, left, right, height, n_heads."""
    ...
