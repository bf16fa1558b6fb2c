"""Governors that heads predict, and their accuracy by relation."""

from itertools import product

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.probing.probe_accuracy import accuracy_interval
from analysis.needs import Need
from analysis.statistics.annotation import MERGING, MERGINGS
from analysis.statistics.base.weighing import WEIGHING, WEIGHINGS, WEIGHT, of_weights
from analysis.statistics.columns import count, named, number, small, smalls, text
from analysis.statistics.fit import FitContext
from analysis.statistics.probing.dependency_scores import OFFSETS, heads_of, trees
from analysis.statistics.question import asks
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


@asks("""
    with decided as (
        select seq, sentence, word, relation, governor, is_masked,
            word + (
                relation = 'poss'
                and coalesce(
                    lead(form) over (partition by seq, sentence order by word)
                        in ('''s', 's'''),
                    false
                )
            )::int as deciding
        from word
        where relation is not null
    ),
    counted as (
        select seq, sentence, count(*) as n,
            count(*) filter (where predicted[deciding + 1] = governor) as n_right
        from decided
        join dependency_prediction_weighing using (seq)
        where weighing = $weighing and layer = $layer and head = $head
            and direction = $direction and merging = $merging
            and not is_masked
            and (seq, coalesce(governor, -1)) not in (
                select seq, word from word where is_masked
            )
            and case $relation
                when 'all_words' then true
                when 'all' then split_part(relation, ':', 1) not in ('root', 'punct')
                else split_part(relation, ':', 1) not in ('root', 'punct')
                    and $relation in (relation, split_part(relation, ':', 1))
            end
        group by seq, sentence
        order by n desc, seq, sentence
        limit $limit
    )
    select seq, sentence,
        trim(string_agg(form || if(space_after, ' ', ''), '' order by word)) as text,
        any_value(n) as n, any_value(n_right) as n_right
    from counted
    join word using (seq, sentence)
    group by seq, sentence
    order by n desc, seq, sentence
""")
def sentences(
    store: DuckDBPyConnection,
    *,
    relation: str,
    layer: int,
    head: int,
    direction: str,
    merging: str,
    limit: int,
    weighing: str = WEIGHT,
) -> pd.DataFrame:
    """The sentences with most words of a relation, and the number that a head gets right.

    Args:
        relation: one of `dependency_accuracy.relations`.

    Returns:
        seq, sentence, text, n, n_right; ties follow the order of the corpus.
    """
    ...


@asks("""
    select (unnest(range(len(predicted))))::smallint as word, unnest(predicted) as predicted
    from dependency_prediction_weighing
    where weighing = $weighing and seq = $seq
        and layer = $layer and head = $head and direction = $direction
        and merging = $merging
    order by word
""")
def of_sentence(
    store: DuckDBPyConnection,
    *,
    seq: int,
    layer: int,
    head: int,
    direction: str,
    merging: str,
    weighing: str = WEIGHT,
) -> pd.DataFrame:
    """Predicted governors of one head for a sequence, in the order of the words: word, predicted
    (−1: no candidate)."""
    ...


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


@asks("""
    select layer, head, n, accuracy, low, high
    from dependency_accuracy_weighing
    where relation = $relation and merging = $merging and direction = $direction
        and weighing = $weighing
    order by layer, head
""")
def of_relation(
    store: DuckDBPyConnection,
    *,
    relation: str,
    merging: str,
    direction: str,
    weighing: str = WEIGHT,
) -> pd.DataFrame:
    """Every head on one relation: layer, head, n, accuracy, low, high."""
    ...


@asks("""
    select relation, direction, n, accuracy, low, high
    from dependency_accuracy_weighing
    where layer = $layer and head = $head and merging = $merging and weighing = $weighing
    order by accuracy desc, n desc, relation, direction
""")
def of_head(
    store: DuckDBPyConnection, *, layer: int, head: int, merging: str, weighing: str = WEIGHT
) -> pd.DataFrame:
    """One head on every relation, in both directions: relation, direction, n, accuracy, low, high;
    the most accurate first."""
    ...


@asks("""
    select relation, any_value(n) as n
    from dependency_accuracy
    group by relation
    order by n desc, relation
""")
def relations(store: DuckDBPyConnection) -> pd.DataFrame:
    """All relations, with the sums `all` and `all_words`: relation, n; the most frequent first."""
    ...


@asks("""
    select relation, layer, head, direction, n, accuracy, low, high
    from dependency_accuracy_merging
    where merging = $merging
    qualify row_number() over (
        partition by relation order by accuracy desc, direction, layer, head
    ) = 1
    order by n desc, relation
""")
def best_heads(store: DuckDBPyConnection, *, merging: str) -> pd.DataFrame:
    """The most accurate head and direction by relation; ties go to the first.

    Selected and scored on the same words, as in the paper; `dependency_best` selects on others.

    Returns:
        relation, layer, head, direction, n, accuracy, low, high; the most frequent first.
    """
    ...


@asks(
    'select relation, "offset", n, accuracy from dependency_baseline '
    'order by n desc, relation, "offset"'
)
def baselines(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every offset on every relation: relation, offset, n, accuracy."""
    ...
