"""How many mentions of each sequence heads and rules are right about, from what is stored."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.tables.coreference_prediction import MENTION_TYPES

_COUNTS = """
    with picked as (
        select seq, method, merging, layer, head, unnest(mentions) as mention,
            unnest(correct) as correct
        from coreference_prediction
    ),
    typed as (
        select picked.*, unnest(['all', mention_type::varchar]) as mention_type
        from picked
        join mention using (seq, mention)
    )
    select seq, mention_type, method::varchar as method, merging::varchar as merging, layer, head,
        sum(correct::int)::double as n_right, count(*) as n
    from typed
    group by all
    order by seq, method, merging, layer, head
"""


@dataclass(frozen=True)
class Counts:
    """Of one type of mention: what was picked by what, and how often it was right.

    `cells` has a row method, merging, layer, head per column of `right`; `n` holds the mentions of
    each of the `sequences` with mentions.
    """

    mention_type: str
    sequences: np.ndarray
    cells: pd.DataFrame
    right: np.ndarray
    n: np.ndarray


def coreference_counts(store: DuckDBPyConnection) -> list[Counts]:
    """For every type of mention that there is; all have the same sequences in the same order."""
    frame = store.execute(_COUNTS).df()
    sequences = np.unique(frame["seq"])
    return [
        _of_type(name, frame[frame["mention_type"] == name], sequences)
        for name in MENTION_TYPES
        if (frame["mention_type"] == name).any()
    ]


def _of_type(name: str, frame: pd.DataFrame, sequences: np.ndarray) -> Counts:
    columns = ["method", "merging", "layer", "head"]
    cells = frame[columns].drop_duplicates().sort_values(columns, na_position="last")
    cells = cells.reset_index(drop=True)
    place = frame[columns].merge(cells.reset_index(), on=columns)["index"].to_numpy()
    row = np.searchsorted(sequences, frame["seq"].to_numpy())
    right = np.zeros((len(sequences), len(cells)))
    right[row, place] = frame["n_right"]
    n = np.zeros(len(sequences), dtype=np.int64)
    n[row] = frame["n"]
    return Counts(name, sequences, cells, right, n)
