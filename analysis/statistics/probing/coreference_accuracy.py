"""Accuracy of heads and rules in finding an antecedent."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Bool

from analysis.measures.probing.probe_accuracy import accuracy_interval, best_probe, parts
from analysis.needs import Need
from analysis.statistics.agreement import CHOSEN
from analysis.statistics.columns import count, named, number
from analysis.statistics.fit import FitContext
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
from analysis.statistics.rows import rows_of
from analysis.statistics.table import Table, View, interval

MENTION_TYPE = named("mention_type", "type of the mention: pronoun, proper, nominal, or all")
_VALUES = (
    count("n", "mentions that have an antecedent", "mentions"),
    number("accuracy", "share of them for which the picked earlier mention is an antecedent"),
    *interval("share"),
)
_COLUMNS = (MENTION_TYPE, METHOD, OF_HEAD, HEAD_OR_RULE, *_VALUES)
_NAME = "coreference_accuracy"

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
    for chosen_on, (chosen, scored) in parts(len(counts.n), seed=seed).items():
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


def _accuracies(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Score every head, merging and weighing, and every rule, on each type of mention."""
    frames = []
    for counts in coreference_counts(store):
        drawn = context.redraws(counts.blocks)
        low, high = accuracy_interval(counts.right, counts.n, drawn)
        n = int(counts.n.sum())
        columns = {"n": n, "accuracy": counts.right.sum(axis=0) / n, "low": low, "high": high}
        frames.append(counts.cells.assign(mention_type=counts.mention_type, **columns))
    return rows_of(table, frames)


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
    version=2,
    requires=("coreference_prediction",),
    made_by=_accuracies,
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
