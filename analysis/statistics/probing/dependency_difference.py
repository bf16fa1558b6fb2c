"""The best head of every relation by weights and by norms, scored on the same words."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.agreement import CHOSEN
from analysis.statistics.annotation import MERGING
from analysis.statistics.norms.weighing import difference, of_either
from analysis.statistics.probing.dependency_accuracy import ACCURACY, N_WORDS, PROBED
from analysis.statistics.probing.dependency_best import CHOSEN_ON_COLUMN
from analysis.statistics.probing.dependency_prediction import DIRECTION
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, Table

TABLE = Table(
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
)


@asks("""
    from dependency_difference
    where merging = $merging and chosen_on = $chosen_on
    order by n desc, relation
""")
def differences(store: DuckDBPyConnection, *, merging: str, chosen_on: str) -> pd.DataFrame:
    """Both best heads of every relation, the most frequent relation first.

    Args:
        chosen_on: one of `dependency_best.CHOSEN_ON`.

    Returns:
        Every column of the table; no row for a relation that one half lacks.
    """
    ...
