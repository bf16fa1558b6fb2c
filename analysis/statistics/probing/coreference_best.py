"""The best head for each type of mention, and its accuracy on other sequences."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.agreement import CHOSEN
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.columns import count, named, number
from analysis.statistics.norms.weighing import WEIGHING, WEIGHT, of_weights
from analysis.statistics.probing.coreference_accuracy import MENTION_TYPE
from analysis.statistics.probing.coreference_prediction import BASELINES, MENTION_TYPES
from analysis.statistics.question import frame_of, placed
from analysis.statistics.table import HEAD, LAYER, Table, interval

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
