"""How often each head, and each simple rule, finds an antecedent."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.coreference_prediction import (
    HEAD_OR_RULE,
    MENTION_TYPES,
    MERGING_OR_RULE,
    METHOD,
    METHODS,
    OF_HEAD,
)
from analysis.tables.table import NAME, Column, Table, View, interval

MENTION_TYPE = Column(
    "mention_type", NAME, "type of the mention: pronoun, proper, nominal, or all", "name"
)
_N = Column("n", pa.int64(), "mentions that have an antecedent", "mentions")
_ACCURACY = Column(
    "accuracy",
    pa.float64(),
    "share of them for which the picked earlier mention is an antecedent",
    "share",
)
_VALUES = (_N, _ACCURACY, *interval("share"))
_COLUMNS = (MENTION_TYPE, METHOD, OF_HEAD, HEAD_OR_RULE, *_VALUES)

TABLE = Table(
    name="coreference_accuracy",
    grain="one row per type of mention, and head and merging, or rule",
    key=(MERGING_OR_RULE, MENTION_TYPE, METHOD, OF_HEAD, HEAD_OR_RULE),
    values=_VALUES,
    source="clark-2019",
    laws=(
        "n >= 1",
        "accuracy between 0 and 1",
        "low <= high",
        "(method = 'head') = (head is not null)",
        "(method = 'head') = (merging is not null)",
    ),
    views=(
        View(
            "coreference_accuracy",
            "one row per type of mention, and head or rule",
            _COLUMNS,
            """
            select * exclude (merging) from stored.coreference_accuracy
            where merging is null or merging = 'mean'
            """,
        ),
        View(
            "coreference_accuracy_merging",
            "one row per type of mention, and head and merging, or rule",
            (MERGING_OR_RULE, *_COLUMNS),
            "from stored.coreference_accuracy",
        ),
    ),
)


def of_type(store: DuckDBPyConnection, *, mention_type: str, merging: str) -> pd.DataFrame:
    """How every head and rule does on one type of mention.

    Returns:
        method, layer, head (missing for a rule), n, accuracy, low, high; heads first.
    """
    return store.execute(
        """
        select * exclude (merging, mention_type)
        from coreference_accuracy_merging
        where mention_type = $mention_type and (merging is null or merging = $merging)
        order by list_position($methods, method), layer, head
        """,
        {"mention_type": mention_type, "merging": merging, "methods": list(METHODS)},
    ).df()


def of_head(
    store: DuckDBPyConnection,
    *,
    merging: str,
    layer: int,
    head: int,
) -> pd.DataFrame:
    """One head and all rules on every type of mention.

    Returns:
        mention_type, method, n, accuracy, low, high.
    """
    return store.execute(
        """
        select mention_type, method, n, accuracy, low, high
        from coreference_accuracy_merging
        where merging is null or (merging = $merging and layer = $layer and head = $head)
        order by list_position($types, mention_type), list_position($methods, method)
        """,
        {
            "merging": merging,
            "layer": layer,
            "head": head,
            "types": list(MENTION_TYPES),
            "methods": list(METHODS),
        },
    ).df()
