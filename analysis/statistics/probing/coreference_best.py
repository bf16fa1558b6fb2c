"""The best head for each type of mention, on other sequences, by weights and by norms."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.probing.probe_accuracy import accuracy_interval, scores_against
from analysis.needs import Need
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.base.weighing import (
    WEIGHING,
    WEIGHINGS,
    WEIGHT,
    difference,
    of_either,
    of_weights,
)
from analysis.statistics.columns import count, named, number
from analysis.statistics.fit import FitContext
from analysis.statistics.probing.coreference_accuracy import (
    BASELINES,
    MENTION_TYPE,
    MENTION_TYPES,
    Counts,
    coreference_counts,
    parts_of,
)
from analysis.statistics.question import asks, frame_of, placed
from analysis.statistics.rows import rows_of
from analysis.statistics.table import CHOSEN, HEAD, LAYER, Table, interval

CHOSEN_ON = ("all", "first", "second")
_MENTIONS = "mentions that have an antecedent"
MERGED = named("merging", "what a word gives: mean of its pieces, or its first piece")
CHOSEN_ON_COLUMN = named(
    "chosen_on",
    "the part of the sequences the head is chosen on: first or second, random half A or B, "
    "and scored on the other; or all, and scored on all",
)
_NAME = "coreference_best"
_KEY = (
    MERGED,
    MENTION_TYPE,
    CHOSEN_ON_COLUMN,
    named("baseline", "the rule: nearest, head_match or sieve"),
)
_VALUES = (
    LAYER,
    HEAD,
    count("n_tried", "heads the best was chosen from", "heads"),
    count("n_chosen", f"{_MENTIONS} where it was chosen", "mentions"),
    number("accuracy_chosen", "the head's accuracy where it was chosen"),
    count("n", f"{_MENTIONS} where it was scored", "mentions"),
    number("accuracy", "the head's accuracy where it was scored"),
    *interval("share"),
    number("baseline_accuracy", "the rule's accuracy there"),
    number("difference", "the head's accuracy less that of the rule there"),
    *interval("share", of="difference"),
)


def _best_heads(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Choose and score heads, on the parts that have such mentions on both sides."""
    rows = []
    for counts in coreference_counts(store):
        for chosen_on, (chosen, scored) in parts_of(counts, seed=context.seed):
            key = {"mention_type": counts.mention_type, "chosen_on": chosen_on}
            rows += [key | row for row in _rows(counts, chosen, scored, context)]
    return rows_of(table, [pd.DataFrame(rows)] if rows else [])


def _rows(
    counts: Counts, chosen: np.ndarray, scored: np.ndarray, context: FitContext
) -> Iterator[dict[str, Any]]:
    drawn = context.redraws(counts.blocks[scored])
    for weighing, merging in product(WEIGHINGS, MERGINGS):
        variant = {"weighing": weighing, "merging": merging}
        best, place, n_tried = counts.best_head(chosen, **variant)
        for baseline in BASELINES:
            (rule,) = np.flatnonzero(counts.cells["method"] == baseline)
            of_rule, right = counts.right[:, rule], counts.right[:, best]
            scores = scores_against(
                of_rule, right, counts.n, chosen=chosen, scored=scored, drawn=drawn
            )
            yield {**variant, "baseline": baseline, **place, "n_tried": n_tried, **scores}


def _differences(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Compare the best heads of both weighings on the same mentions."""
    rows = []
    for counts in coreference_counts(store):
        for chosen_on, part in parts_of(counts, seed=context.seed):
            key = {"mention_type": counts.mention_type, "chosen_on": chosen_on}
            rows += [key | _compared(counts, *part, merging, context) for merging in MERGINGS]
    return rows_of(table, [pd.DataFrame(rows)] if rows else [])


def _compared(
    counts: Counts, chosen: np.ndarray, scored: np.ndarray, merging: str, context: FitContext
) -> dict[str, Any]:
    row: dict[str, Any] = {"merging": merging, "n": int(counts.n[scored].sum())}
    right = {}
    for weighing in WEIGHINGS:
        best, place, _ = counts.best_head(chosen, weighing=weighing, merging=merging)
        right[weighing] = counts.right[scored, best]
        row |= {f"{name}_{weighing}": at for name, at in place.items()}
        row[f"accuracy_{weighing}"] = right[weighing].sum() / row["n"]
    more = right["norm"] - right["weight"]
    drawn = context.redraws(counts.blocks[scored])
    (low,), (high,) = accuracy_interval(more[:, None], counts.n[scored], drawn)
    return row | {"difference": more.sum() / row["n"], "low": low, "high": high}


TABLE = Table(
    name=_NAME,
    grain="one row per weighing, merging, type of mention, part of the corpus, and rule it is "
    "compared with",
    key=(WEIGHING, *_KEY),
    values=_VALUES,
    source="clark-2019",
    declared=CHOSEN,
    needs=(Need.COREFERENCE,),
    laws=(
        "n >= 1 and n_chosen >= 1 and n_tried >= 1",
        "accuracy between 0 and 1 and accuracy_chosen between 0 and 1",
        "abs(accuracy - baseline_accuracy - difference) < 1e-9",
        "low <= high and difference_low <= difference_high",
        "chosen_on <> 'all' or accuracy = accuracy_chosen",
    ),
    shown_as="coreference_best_weighing",
    views=(
        of_weights(
            _NAME,
            "one row per merging, type of mention, part of the corpus, and rule it is compared "
            "with",
            (*_KEY, *_VALUES),
        ),
    ),
    depends_on=(),
    version=2,
    requires=("coreference_prediction",),
    made_by=_best_heads,
)
_ACCURACY = number("accuracy", "the head's accuracy where it was scored")
DIFFERENCE = Table(
    name="coreference_difference",
    grain="one row per merging, type of mention and part of the corpus",
    key=(MERGED, MENTION_TYPE, CHOSEN_ON_COLUMN),
    values=(
        count("n", "mentions that have an antecedent where it was scored", "mentions"),
        *of_either(LAYER, HEAD, _ACCURACY),
        *difference("share"),
    ),
    source="kobayashi-2020",
    declared=CHOSEN,
    needs=(Need.COREFERENCE,),
    laws=(
        "n >= 1",
        "accuracy_weight between 0 and 1 and accuracy_norm between 0 and 1",
        "abs(difference - (accuracy_norm - accuracy_weight)) < 1e-9",
        "low <= high",
    ),
    depends_on=(),
    requires=("coreference_prediction",),
    made_by=_differences,
)


def best(
    store: DuckDBPyConnection, *, merging: str, chosen_on: str, weighing: str = WEIGHT
) -> pd.DataFrame:
    """The best head for every type of mention, beside every rule.

    Args:
        chosen_on: one of `CHOSEN_ON`.

    Returns:
        mention_type, baseline, layer, head, n_tried, n_chosen, accuracy_chosen, n, accuracy, low,
        high, baseline_accuracy, difference, difference_low, difference_high.
    """
    if merging not in MERGINGS or chosen_on not in CHOSEN_ON:
        raise ValueError(f"merging {merging}, chosen on {chosen_on}")
    return frame_of(
        store,
        f"""
        select * exclude (weighing, merging, chosen_on)
        from coreference_best_weighing
        where merging = $merging and chosen_on = $chosen_on and weighing = $weighing
        order by {placed(MENTION_TYPES, "mention_type")}, {placed(BASELINES, "baseline")}
        """,
        {"merging": merging, "weighing": weighing, "chosen_on": chosen_on},
    )


@asks(f"""
    select * exclude (merging) from coreference_difference
    where merging = $merging
    order by {placed(MENTION_TYPES, "mention_type")}, chosen_on
""")
def differences(store: DuckDBPyConnection, *, merging: str) -> pd.DataFrame:
    """Both best heads for every type of mention and part of the corpus.

    Returns:
        mention_type, chosen_on, n, layer, head and accuracy of either, difference, low, high.
    """
    ...
