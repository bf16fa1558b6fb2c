"""Governors that heads predict, and their accuracy by relation."""

from itertools import product

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.probing.probe_accuracy import accuracy_interval
from analysis.needs import Need
from analysis.statistics.annotation import MERGING, MERGINGS
from analysis.statistics.columns import count, named, number, small, smalls, text
from analysis.statistics.fit import FitContext
from analysis.statistics.norms.weighing import WEIGHING, WEIGHINGS, of_weights
from analysis.statistics.probing.dependency_scores import OFFSETS, heads_of, trees
from analysis.statistics.rows import rows_of
from analysis.statistics.table import CHOSEN, HEAD, LAYER, SEQUENCE, Table, View, interval

DIRECTION = named("direction", "who attends: dependent_to_head or head_to_dependent")
_PREDICTION = "dependency_prediction"
_PREDICTED = smalls(
    "predicted",
    "of each word of the sequence the word taken for its syntactic head; −1: no candidate",
)
_PREDICTION_KEY = (SEQUENCE, LAYER, HEAD, DIRECTION, MERGING)
PREDICTION = Table(
    name=_PREDICTION,
    grain="one row per weighing, sequence with trees, layer, head, direction and merging",
    key=(WEIGHING, *_PREDICTION_KEY),
    values=(_PREDICTED,),
    source="clark-2019",
    declared=CHOSEN,
    needs=(Need.TREES,),
    laws=("len(predicted) > 0", "list_min(predicted) >= -1"),
    shown_as="dependency_prediction_weighing",
    views=(
        of_weights(
            _PREDICTION,
            "one row per sequence with trees, layer, head, direction and merging",
            (*_PREDICTION_KEY, _PREDICTED),
        ),
    ),
    order=("weighing", "merging", "layer", "head", "direction", "seq"),
    depends_on=(),
    version=2,
)


PROBED = text(
    "relation",
    "relation to the governor, its subtypes included, or a subtype; all: every word but root and "
    "punct; all_words: every word",
    "name",
)
N_WORDS = count("n", "words", "words")
ACCURACY = number("accuracy", "share of them whose governor is the predicted one")
_VALUES = (N_WORDS, ACCURACY, *interval("share"))
_CELL = (PROBED, LAYER, HEAD, DIRECTION)
_NAME = "dependency_accuracy"


def _of_heads(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Score every weighing, merging, head and direction; no rows without trees."""
    known = trees(store)
    if not known.n_blocks:
        return table.schema.empty_table()
    heads = heads_of(store)
    drawn = context.redraws(known.blocks)
    frames: list[pd.DataFrame] = []
    for weighing, merging in product(WEIGHINGS, MERGINGS):
        variant = {"weighing": weighing, "merging": merging}
        for scores in known.by_relation(known.heads(store, **variant)):
            low, high = accuracy_interval(scores.right, scores.n, drawn.of(scores.rows))
            n = int(scores.n.sum())
            columns = {"n": n, "accuracy": scores.right.sum(axis=0) / n, "low": low, "high": high}
            frames.append(heads.assign(**variant, relation=scores.relation, **columns))
    return rows_of(table, frames)


def _of_offsets(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Score every offset; no rows without trees."""
    known = trees(store)
    if not known.n_blocks:
        return table.schema.empty_table()
    frames = [
        pd.DataFrame(
            {
                "relation": scores.relation,
                "offset": OFFSETS,
                "n": scores.n.sum(),
                "accuracy": scores.right.sum(axis=0) / scores.n.sum(),
            }
        )
        for scores in known.by_relation(known.offsets())
    ]
    return rows_of(table, frames)


TABLE = Table(
    name=_NAME,
    grain="one row per weighing, merging, relation, layer, head and direction",
    key=(WEIGHING, MERGING, *_CELL),
    values=_VALUES,
    source="clark-2019",
    declared=CHOSEN,
    needs=(Need.TREES,),
    laws=("n > 0", "accuracy between 0 and 1", "low <= high and low >= 0 and high <= 1"),
    shown_as="dependency_accuracy_weighing",
    views=(
        View(
            "dependency_accuracy",
            "one row per relation, layer, head and direction; means over the pieces of words",
            (*_CELL, *_VALUES),
            "select relation, layer, head, direction, n, accuracy, low, high "
            "from stored.dependency_accuracy where merging = 'mean' and weighing = 'weight'",
        ),
        of_weights(
            "dependency_accuracy_merging",
            "one row per merging, relation, layer, head and direction",
            (MERGING, *_CELL, *_VALUES),
            table=_NAME,
        ),
    ),
    depends_on=(),
    version=2,
    requires=("dependency_prediction",),
    made_by=_of_heads,
)
BASELINE = Table(
    name="dependency_baseline",
    grain="one row per relation and offset",
    key=(PROBED, small("offset", "how many words further on the governor is looked for", "words")),
    values=(N_WORDS, ACCURACY),
    source="clark-2019",
    needs=(Need.TREES,),
    laws=("n > 0", "accuracy between 0 and 1", '"offset" <> 0 and abs("offset") <= 3'),
    depends_on=(),
    version=2,
    made_by=_of_offsets,
)
