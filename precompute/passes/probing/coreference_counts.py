"""Counts of correctly resolved mentions by block, for heads and rules."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from jaxtyping import Bool

from analysis.measures.probing.probe_accuracy import best_probe, halves
from analysis.statistics.probing.coreference_prediction import MENTION_TYPES

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
    """Correct picks of all heads and rules for one type of mention.

    `cells` has a row method, weighing, merging, layer, head per column of `right`; `n` holds the
    number of mentions of each of the `blocks` of sequences with mentions.
    """

    mention_type: str
    blocks: np.ndarray
    cells: pd.DataFrame
    right: np.ndarray
    n: np.ndarray

    def best_head(
        self, chosen: Bool[np.ndarray, " block"], *, weighing: str, merging: str
    ) -> tuple[int, dict[str, int], int]:
        """Return the best head's column on chosen blocks, its layer and head, and the candidates'
        number.

        Ties go to the first.
        """
        ways = (self.cells["weighing"] == weighing) & (self.cells["merging"] == merging)
        columns = np.flatnonzero(ways)
        best = int(columns[best_probe(self.right[:, columns], chosen)])
        place = {name: int(self.cells[name].iloc[best]) for name in ("layer", "head")}
        return best, place, len(columns)


def coreference_counts(store: DuckDBPyConnection) -> list[Counts]:
    """Return the counts of every type of mention; all have the same blocks in the same order."""
    frame = store.execute(_COUNTS).df()
    blocks = np.unique(frame["block"])
    return [
        _of_type(name, frame[frame["mention_type"] == name], blocks)
        for name in MENTION_TYPES
        if (frame["mention_type"] == name).any()
    ]


def parts_of(counts: Counts, *, seed: int) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """Yield the parts that heads are chosen on, with the blocks of the part and the scored blocks.

    A part is left out if it, or its scored blocks, have no such mention.
    """
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
