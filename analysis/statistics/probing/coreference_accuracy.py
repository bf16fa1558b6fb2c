"""Antecedents that heads and rules pick, and their accuracy."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Bool

from analysis.measures.probing.probe_accuracy import accuracy_interval, best_probe, parts
from analysis.needs import Need
from analysis.statistics.annotation import MERGING
from analysis.statistics.base.weighing import WEIGHING, WEIGHT, of_weights
from analysis.statistics.columns import count, named, number, smalls
from analysis.statistics.fit import FitContext
from analysis.statistics.question import asks, placed
from analysis.statistics.rows import rows_of
from analysis.statistics.table import (
    CHOSEN,
    HEAD,
    LAYER,
    SEQUENCE,
    Column,
    Table,
    View,
    interval,
    nullable,
)

METHODS = ("head", "nearest", "head_match", "sieve")
BASELINES = METHODS[1:]
MENTION_TYPES = ("all", "pronoun", "proper", "nominal")
METHOD = named(
    "method", "head: the attention of one head; else a rule: nearest, head_match or sieve"
)
MERGING_OR_RULE = nullable(
    MERGING, "what a word gives: mean of its pieces, or what its first piece gives; NULL for a rule"
)
OF_HEAD = nullable(LAYER, "layer, counted from 1; NULL for a rule")
HEAD_OR_RULE = nullable(HEAD, "head, counted from 1; NULL for a rule")

WEIGHING_OR_RULE = nullable(WEIGHING, f"{WEIGHING.meaning}; NULL for a rule")

_PREDICTION = "coreference_prediction"
_PREDICTION_KEY = (SEQUENCE, METHOD, MERGING_OR_RULE, OF_HEAD, HEAD_OR_RULE)
_PICKED = (
    smalls(
        "mentions",
        "mentions that have an antecedent: an earlier mention of the same cluster; of neither "
        "a word is masked",
    ),
    smalls(
        "predicted", "of each of them the head word of the earlier mention that is picked; -1: none"
    ),
    Column(
        "correct", pa.list_(pa.bool_()), "whether it is the head word of an antecedent", "yes or no"
    ),
)
PREDICTION = Table(
    name=_PREDICTION,
    grain="one row per sequence where a mention has an antecedent, and head, merging and weighing, "
    "or rule",
    key=(WEIGHING_OR_RULE, *_PREDICTION_KEY),
    values=_PICKED,
    source="clark-2019",
    declared=CHOSEN,
    needs=(Need.COREFERENCE,),
    laws=(
        "len(mentions) >= 1 and len(predicted) = len(mentions) and len(correct) = len(mentions)",
        "list_min(predicted) >= -1",
        "method = 'head_match' or list_min(predicted) >= 0",
        "(method = 'head') = (head is not null)",
        "(method = 'head') = (merging is not null)",
        "(method = 'head') = (weighing is not null)",
        "(layer is null) = (head is null)",
    ),
    order=("seq", "method", "weighing", "merging", "layer", "head"),
    shown_as="coreference_prediction_weighing",
    views=(
        of_weights(
            _PREDICTION,
            "one row per sequence where a mention has an antecedent, and head and merging, or rule",
            (*_PREDICTION_KEY, *_PICKED),
            or_rules=True,
        ),
    ),
    depends_on=(),
    version=2,
)


_IS_ASKED = """method = $method and ($method <> 'head'
    or (merging = $merging and weighing = $weighing and layer = $layer and head = $head))"""


@asks(f"""
    select seq, len(mentions) as n, len(list_filter(correct, lambda each: each)) as n_right,
        text
    from coreference_prediction_weighing
    join sequence using (seq)
    where {_IS_ASKED}
    order by seq
""")
def by_sequence(
    store: DuckDBPyConnection,
    *,
    method: str,
    merging: str = "mean",
    weighing: str = WEIGHT,
    layer: int | None = None,
    head: int | None = None,
) -> pd.DataFrame:
    """Number of mentions of every sequence that a head or a rule resolves correctly.

    Args:
        method: one of `METHODS`; merging, weighing, layer and head apply to heads alone.

    Returns:
        seq, n, n_right, text; sequences where no mention has an antecedent are left out.
    """
    ...


@asks(f"""
    with picked as (
        select unnest(mentions) as mention, unnest(predicted) as predicted,
            unnest(correct) as correct
        from coreference_prediction_weighing
        where seq = $seq and {_IS_ASKED}
    )
    select mention.* exclude (seq), predicted, correct, (
        select max(earlier.head_word) from mention as earlier
        where earlier.seq = $seq and earlier.cluster = mention.cluster
            and not earlier.is_masked and earlier.head_word < mention.head_word
    ) as antecedent
    from picked
    join mention on mention.seq = $seq and mention.mention = picked.mention
    order by mention.mention
""")
def of_sequence(
    store: DuckDBPyConnection,
    *,
    seq: int,
    method: str,
    merging: str = "mean",
    weighing: str = WEIGHT,
    layer: int | None = None,
    head: int | None = None,
) -> pd.DataFrame:
    """Picks of a head or a rule in one sequence, mention by mention.

    Args:
        method: one of `METHODS`; merging, weighing, layer and head apply to heads alone.

    Returns:
        mention, first_word, last_word, head_word, cluster, mention_type, predicted (−1: none),
        correct, antecedent (head word of the nearest correct one).
    """
    ...


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
