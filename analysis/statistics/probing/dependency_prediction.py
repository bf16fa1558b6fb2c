"""Governors that every head predicts for each word."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.agreement import CHOSEN
from analysis.statistics.annotation import MERGING
from analysis.statistics.columns import named, smalls
from analysis.statistics.norms.weighing import WEIGHING, WEIGHT, of_weights
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table

DIRECTIONS = ("dependent_to_head", "head_to_dependent")
DIRECTION = named("direction", "who attends: dependent_to_head or head_to_dependent")
_NAME = "dependency_prediction"
_PREDICTED = smalls(
    "predicted",
    "of each word of the sequence the word taken for its syntactic head; −1: no candidate",
)
_KEY = (SEQUENCE, LAYER, HEAD, DIRECTION, MERGING)
TABLE = Table(
    name=_NAME,
    grain="one row per weighing, sequence with trees, layer, head, direction and merging",
    key=(WEIGHING, *_KEY),
    values=(_PREDICTED,),
    source="clark-2019",
    declared=CHOSEN,
    needs=(Need.TREES,),
    laws=("len(predicted) > 0", "list_min(predicted) >= -1"),
    shown_as="dependency_prediction_weighing",
    views=(
        of_weights(
            _NAME,
            "one row per sequence with trees, layer, head, direction and merging",
            (*_KEY, _PREDICTED),
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
