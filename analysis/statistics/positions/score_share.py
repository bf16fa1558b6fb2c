"""Share of the variance of each head's scores due to position, query content and key content."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import count, number
from analysis.statistics.question import asks, frame_of
from analysis.statistics.table import HEAD_OR_MEAN, LAYER, Table, interval

_PARTS = {
    "position": "the score of the mean query and the mean key at their offset",
    "query": "what the query adds to that, whatever the key",
    "key": "what the key adds to that, whatever the query",
    "content": "what only both add, and all that no offset is in; NULL, as the others, if all keys "
    "of every query match equally",
}
PARTS = tuple(_PARTS)
TABLE = Table(
    name="score_share",
    grain="one row per layer and head, and for the mean over its heads; none if no score knows an "
    "offset",
    key=(LAYER, HEAD_OR_MEAN),
    values=(
        count("n_pairs", "pairs of a query and a key that are compared", "pairs"),
        number("deviation", "root mean square of a score less the mean of its row", "score"),
        *(
            number(name, f"share of the variance within rows of {meaning}", nullable=True)
            for name, meaning in _PARTS.items()
        ),
        *(end for name in PARTS for end in interval("share", of=name)),
    ),
    source="su-2021",
    needs=(Need.KERNELS,),
    laws=(
        "n_pairs > 0",
        "deviation >= 0",
        "(position is null) = (content is null)",
        'position is null or abs(position + "query" + "key" + content - 1) <= 1e-6',
        *(f"{name}_low <= {name}_high" for name in PARTS),
    ),
    depends_on=(),
)


_ENDS = ", ".join(f"{name}_low, {name}_high" for name in PARTS)


def heads(store: DuckDBPyConnection) -> pd.DataFrame:
    """Shares of every head with their intervals: layer, head, n_pairs, deviation, position, query,
    key, content."""
    return frame_of(store, "from score_share where head is not null order by layer, head")


@asks(f"""
    select layer, position, "query", "key", content, {_ENDS}
    from score_share
    where head is null and position is not null
    order by layer
""")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """Means over the heads of each layer: layer, position, query, key, content, and the ends of
    their intervals."""
    ...
