"""How many mentions of each block heads and rules are right about, from what is stored."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from jaxtyping import Bool

from analysis.measures.probing.probe_accuracy import best_probe, halves
from analysis.tables.probing.coreference_prediction import MENTION_TYPES

_COUNTS = """
    with picked as (
        select seq, method, weighing, merging, layer, head, unnest(mentions) as mention,
            unnest(correct) as correct
        from coreference_prediction_weighing
    ),
    typed as (
        select picked.*, unnest(['all', mention_type::varchar]) as mention_type
        from picked
        join mention using (seq, mention)
    )
    select block, mention_type, method::varchar as method, weighing::varchar as weighing,
        merging::varchar as merging, layer, head,
        sum(correct::int)::double as n_right, count(*) as n
    from typed join blocks using (seq)
    group by all
    order by block, method, weighing, merging, layer, head
"""


@dataclass(frozen=True)
class Counts:
    """Of one type of mention: what was picked by what, and how often it was right.

    `cells` has a row method, weighing, merging, layer, head per column of `right`; `n` holds the
    mentions of each of the `blocks` of sequences with mentions.
    """

    mention_type: str
    blocks: np.ndarray
    cells: pd.DataFrame
    right: np.ndarray
    n: np.ndarray

    def best_head(
        self, chosen: Bool[np.ndarray, " block"], *, weighing: str, merging: str
    ) -> tuple[int, dict[str, int], int]:
        """The column of the head that is right most often on chosen blocks, the first of equals,
        its layer and head, and from how many it was chosen."""
        ways = (self.cells["weighing"] == weighing) & (self.cells["merging"] == merging)
        columns = np.flatnonzero(ways)
        best = int(columns[best_probe(self.right[:, columns], chosen)])
        place = {name: int(self.cells[name].iloc[best]) for name in ("layer", "head")}
        return best, place, len(columns)


def coreference_counts(store: DuckDBPyConnection) -> list[Counts]:
    """For every type of mention that there is; all have the same blocks in the same order."""
    frame = store.execute(_COUNTS).df()
    blocks = np.unique(frame["block"])
    return [
        _of_type(name, frame[frame["mention_type"] == name], blocks)
        for name in MENTION_TYPES
        if (frame["mention_type"] == name).any()
    ]


def parts_of(counts: Counts, *, seed: int) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """What heads are chosen on, the blocks of that part and those that are scored; a part is
    left out where it, or the part to score on, has no such mention."""
    first = halves(len(counts.n), seed=seed)
    every = np.ones_like(first)
    parts = {"all": (every, every), "first": (first, ~first), "second": (~first, first)}
    for chosen_on, (chosen, scored) in parts.items():
        if counts.n[chosen].any() and counts.n[scored].any():
            yield chosen_on, (chosen, scored)


def _of_type(name: str, frame: pd.DataFrame, blocks: np.ndarray) -> Counts:
    columns = ["method", "weighing", "merging", "layer", "head"]
    cells = frame[columns].drop_duplicates().sort_values(columns, na_position="last")
    cells = cells.reset_index(drop=True)
    place = frame[columns].merge(cells.reset_index(), on=columns)["index"].to_numpy()
    row = np.searchsorted(blocks, frame["block"].to_numpy())
    right = np.zeros((len(blocks), len(cells)))
    right[row, place] = frame["n_right"]
    n = np.zeros(len(blocks), dtype=np.int64)
    n[row] = frame["n"]
    return Counts(name, blocks, cells, right, n)
