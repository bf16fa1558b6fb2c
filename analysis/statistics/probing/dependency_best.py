"""The best head of every relation, where it was chosen and where not, by weights and by norms."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.probing.probe_accuracy import (
    accuracy_interval,
    best_probe,
    scores_against,
)
from analysis.needs import Need
from analysis.statistics.annotation import MERGING, MERGINGS
from analysis.statistics.base.weighing import (
    WEIGHING,
    WEIGHINGS,
    WEIGHT,
    difference,
    of_either,
    of_weights,
)
from analysis.statistics.columns import count, named, number, small
from analysis.statistics.fit import FitContext
from analysis.statistics.probing.dependency_accuracy import ACCURACY, DIRECTION, N_WORDS, PROBED
from analysis.statistics.probing.dependency_scores import (
    OFFSETS,
    Part,
    RelationScores,
    heads_of,
    parts_of,
    trees,
)
from analysis.statistics.question import asks
from analysis.statistics.rows import rows_of
from analysis.statistics.table import CHOSEN, HEAD, LAYER, Table, interval

CHOSEN_ON = ("all", "first", "second")
CHOSEN_ON_COLUMN = named(
    "chosen_on",
    "sequences that head and offset were chosen on: first or second, random half A or B, and "
    "scored on the other; all: chosen and scored on all",
)
_NAME, _KEY = "dependency_best", (MERGING, PROBED, CHOSEN_ON_COLUMN)
_VALUES = (
    LAYER,
    HEAD,
    DIRECTION,
    count("n_tried", "heads times directions chosen from", "probes"),
    count("n_chosen", "words they were chosen on", "words"),
    number("accuracy_chosen", "share of them that the chosen head gets right"),
    N_WORDS,
    ACCURACY,
    *interval("share"),
    small("offset", "the best fixed offset, chosen on the same words", "words"),
    number("offset_accuracy", "share of the words scored that the offset gets right"),
    number("difference", "accuracy of the head minus that of the offset"),
    *interval("share", of="difference"),
)


def _best_heads(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Choose and score heads and offsets, on the parts that have the relation on both sides."""
    known = trees(store)
    if not known.n_blocks:
        return table.schema.empty_table()
    heads = heads_of(store)
    parts = parts_of(known.blocks, context)
    offsets = list(known.by_relation(known.offsets()))
    rows = []
    for weighing, merging in product(WEIGHINGS, MERGINGS):
        variant = {"weighing": weighing, "merging": merging}
        by_relation = known.by_relation(known.heads(store, **variant))
        for of_heads, of_offsets in zip(by_relation, offsets, strict=True):
            place = {**variant, "relation": of_heads.relation, "n_tried": len(heads)}
            rows += [place | choice for choice in _choices(of_heads, of_offsets, parts, heads)]
    return rows_of(table, [pd.DataFrame(rows)] if rows else [])


def _choices(
    heads: RelationScores, offsets: RelationScores, parts: dict[str, Part], names: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    for name, part in parts.items():
        if (halves := part.of(heads)) is None:
            continue
        chosen, scored, drawn = halves
        head, offset = best_probe(heads.right, chosen), best_probe(offsets.right, chosen)
        right, by_offset = heads.right[:, head], offsets.right[:, offset]
        scores = scores_against(
            by_offset, right, heads.n, chosen=chosen, scored=scored, drawn=drawn
        )
        yield {
            **{str(name): value for name, value in names.iloc[head].items()},
            "chosen_on": name,
            "offset": OFFSETS[offset],
            "offset_accuracy": scores.pop("baseline_accuracy"),
            **scores,
        }


def _differences(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Compare the best heads of both weighings on the words that they are scored on."""
    known = trees(store)
    if not known.n_blocks:
        return table.schema.empty_table()
    heads, parts = heads_of(store), parts_of(known.blocks, context)
    rows = []
    for merging in MERGINGS:
        by_weighing = (
            known.by_relation(known.heads(store, merging=merging, weighing=weighing))
            for weighing in WEIGHINGS
        )
        for weight, norm in zip(*by_weighing, strict=True):
            place = {"merging": merging, "relation": weight.relation}
            rows += [place | choice for choice in _compared(weight, norm, parts, heads)]
    return rows_of(table, [pd.DataFrame(rows)] if rows else [])


def _compared(
    weight: RelationScores, norm: RelationScores, parts: dict[str, Part], names: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    for name, part in parts.items():
        if (halves := part.of(weight)) is None:
            continue
        chosen, scored, drawn = halves
        ways = dict(zip(WEIGHINGS, (weight, norm), strict=True))
        best = {weighing: best_probe(of.right, chosen) for weighing, of in ways.items()}
        right = {weighing: of.right[scored, best[weighing]] for weighing, of in ways.items()}
        n, more = weight.n[scored], right["norm"] - right["weight"]
        (low,), (high,) = accuracy_interval(more[:, None], n, drawn)
        yield {
            **{
                f"{column}_{weighing}": value
                for weighing in WEIGHINGS
                for column, value in names.iloc[best[weighing]].items()
            },
            "chosen_on": name,
            "n": int(n.sum()),
            **{f"accuracy_{weighing}": right[weighing].sum() / n.sum() for weighing in WEIGHINGS},
            "difference": more.sum() / n.sum(),
            "low": low,
            "high": high,
        }


TABLE = Table(
    name=_NAME,
    grain="one row per weighing, merging, relation and half that the best head was chosen on, or "
    "all",
    key=(WEIGHING, *_KEY),
    values=_VALUES,
    source="clark-2019",
    declared=CHOSEN,
    needs=(Need.TREES,),
    laws=(
        "chosen_on in ('all', 'first', 'second')",
        "n > 0 and n_chosen > 0 and n_tried > 0",
        "accuracy between 0 and 1 and accuracy_chosen between 0 and 1",
        "offset_accuracy between 0 and 1",
        "low <= high and difference_low <= difference_high",
        "abs(difference - (accuracy - offset_accuracy)) < 1e-9",
        "chosen_on <> 'all' or (n = n_chosen and accuracy = accuracy_chosen)",
    ),
    shown_as="dependency_best_weighing",
    views=(
        of_weights(
            _NAME,
            "one row per merging, relation and half that the best head was chosen on, or all",
            (*_KEY, *_VALUES),
        ),
    ),
    depends_on=(),
    version=2,
    requires=("dependency_prediction",),
    made_by=_best_heads,
)
DIFFERENCE = Table(
    name="dependency_difference",
    grain="one row per merging, relation and half that the best heads were chosen on, or all",
    key=(MERGING, PROBED, CHOSEN_ON_COLUMN),
    values=(N_WORDS, *of_either(LAYER, HEAD, DIRECTION, ACCURACY), *difference("share")),
    source="kobayashi-2020",
    declared=CHOSEN,
    needs=(Need.TREES,),
    laws=(
        "n > 0",
        "accuracy_weight between 0 and 1 and accuracy_norm between 0 and 1",
        "abs(difference - (accuracy_norm - accuracy_weight)) < 1e-9",
        "low <= high",
    ),
    depends_on=(),
    requires=("dependency_prediction",),
    made_by=_differences,
)


@asks("""
    from dependency_best_weighing
    where merging = $merging and chosen_on = $chosen_on and weighing = $weighing
    order by n desc, relation
""")
def best(
    store: DuckDBPyConnection, *, merging: str, chosen_on: str, weighing: str = WEIGHT
) -> pd.DataFrame:
    """The best head and the best offset of every relation, the most frequent first.

    Args:
        chosen_on: one of `CHOSEN_ON`.

    Returns:
        Every column of the table; no row for a relation that one half lacks.
    """
    ...


@asks("""
    from dependency_difference
    where merging = $merging and chosen_on = $chosen_on
    order by n desc, relation
""")
def differences(store: DuckDBPyConnection, *, merging: str, chosen_on: str) -> pd.DataFrame:
    """Both best heads of every relation, the most frequent relation first.

    Args:
        chosen_on: one of `CHOSEN_ON`.

    Returns:
        Every column of the table; no row for a relation that one half lacks.
    """
    ...
