"""The best head of every relation, scored where it was chosen and where it was not."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.agreement import CHOSEN
from analysis.statistics.annotation import MERGING
from analysis.statistics.columns import count, named, number, small
from analysis.statistics.norms.weighing import WEIGHING, WEIGHT, of_weights
from analysis.statistics.probing.dependency_accuracy import ACCURACY, N_WORDS, PROBED
from analysis.statistics.probing.dependency_prediction import DIRECTION
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, Table, interval

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
