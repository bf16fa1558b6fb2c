"""The best head for antecedents by weights and by norms, scored on the same mentions."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.agreement import CHOSEN
from analysis.statistics.columns import count, number
from analysis.statistics.norms.weighing import difference, of_either
from analysis.statistics.probing.coreference_accuracy import MENTION_TYPE
from analysis.statistics.probing.coreference_best import CHOSEN_ON_COLUMN, MERGED
from analysis.statistics.probing.coreference_prediction import MENTION_TYPES
from analysis.statistics.question import asks, placed
from analysis.statistics.table import HEAD, LAYER, Table

_ACCURACY = number("accuracy", "the head's accuracy where it was scored")
TABLE = Table(
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
