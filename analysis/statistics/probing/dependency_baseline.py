"""Accuracy of fixed offsets in finding the governor of a word, by relation."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import small
from analysis.statistics.probing.dependency_accuracy import ACCURACY, N_WORDS, PROBED
from analysis.statistics.question import asks
from analysis.statistics.table import Table

TABLE = Table(
    name="dependency_baseline",
    grain="one row per relation and offset",
    key=(PROBED, small("offset", "how many words further on the governor is looked for", "words")),
    values=(N_WORDS, ACCURACY),
    source="clark-2019",
    needs=(Need.TREES,),
    laws=("n > 0", "accuracy between 0 and 1", '"offset" <> 0 and abs("offset") <= 3'),
    depends_on=(),
)


@asks(
    'select relation, "offset", n, accuracy from dependency_baseline '
    'order by n desc, relation, "offset"'
)
def baselines(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every offset on every relation: relation, offset, n, accuracy."""
    ...
