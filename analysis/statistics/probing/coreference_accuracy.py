"""Accuracy of heads and rules in finding an antecedent."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.agreement import CHOSEN
from analysis.statistics.columns import count, named, number
from analysis.statistics.norms.weighing import WEIGHT, of_weights
from analysis.statistics.probing.coreference_prediction import (
    HEAD_OR_RULE,
    MENTION_TYPES,
    MERGING_OR_RULE,
    METHOD,
    METHODS,
    OF_HEAD,
    WEIGHING_OR_RULE,
)
from analysis.statistics.question import asks, placed
from analysis.statistics.table import Table, View, interval

MENTION_TYPE = named("mention_type", "type of the mention: pronoun, proper, nominal, or all")
_VALUES = (
    count("n", "mentions that have an antecedent", "mentions"),
    number("accuracy", "share of them for which the picked earlier mention is an antecedent"),
    *interval("share"),
)
_COLUMNS = (MENTION_TYPE, METHOD, OF_HEAD, HEAD_OR_RULE, *_VALUES)
_NAME = "coreference_accuracy"

TABLE = Table(
    name=_NAME,
    grain="one row per type of mention, and head, merging and weighing, or rule",
    key=(WEIGHING_OR_RULE, MERGING_OR_RULE, MENTION_TYPE, METHOD, OF_HEAD, HEAD_OR_RULE),
    values=_VALUES,
    source="clark-2019",
    declared=CHOSEN,
    needs=(Need.COREFERENCE,),
    laws=(
        "n >= 1",
        "accuracy between 0 and 1",
        "low <= high",
        "(method = 'head') = (head is not null)",
        "(method = 'head') = (merging is not null)",
        "(method = 'head') = (weighing is not null)",
    ),
    shown_as="coreference_accuracy_weighing",
    views=(
        View(
            "coreference_accuracy",
            "one row per type of mention, and head or rule",
            _COLUMNS,
            """
            select * exclude (weighing, merging) from stored.coreference_accuracy
            where method <> 'head' or (merging = 'mean' and weighing = 'weight')
            """,
        ),
        of_weights(
            "coreference_accuracy_merging",
            "one row per type of mention, and head and merging, or rule",
            (MERGING_OR_RULE, *_COLUMNS),
            table=_NAME,
            or_rules=True,
        ),
    ),
    depends_on=(),
)


@asks(f"""
    select * exclude (weighing, merging, mention_type)
    from coreference_accuracy_weighing
    where mention_type = $mention_type
        and (method <> 'head' or (merging = $merging and weighing = $weighing))
    order by {placed(METHODS, "method")}, layer, head
""")
def of_type(
    store: DuckDBPyConnection, *, mention_type: str, merging: str, weighing: str = WEIGHT
) -> pd.DataFrame:
    """Accuracy of every head and rule on one type of mention: method, layer, head (NULL for a
    rule), n, accuracy, low, high; heads first."""
    ...


@asks(f"""
    select mention_type, method, n, accuracy, low, high
    from coreference_accuracy_weighing
    where method <> 'head' or (merging = $merging and weighing = $weighing
        and layer = $layer and head = $head)
    order by {placed(MENTION_TYPES, "mention_type")}, {placed(METHODS, "method")}
""")
def of_head(
    store: DuckDBPyConnection, *, merging: str, layer: int, head: int, weighing: str = WEIGHT
) -> pd.DataFrame:
    """One head and all rules on every type of mention: mention_type, method, n, accuracy, low,
    high."""
    ...
