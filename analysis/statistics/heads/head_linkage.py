"""Hierarchical clustering of heads: groups joined from the nearest to the farthest."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import number, whole
from analysis.statistics.norms.weighing import WEIGHING, WEIGHT, of_weights, one_weighing
from analysis.statistics.question import asks
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
)


@asks(one_weighing("head_linkage", order="step"))
def steps(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """The steps in their order: step, left, right, height, n_heads."""
    ...
