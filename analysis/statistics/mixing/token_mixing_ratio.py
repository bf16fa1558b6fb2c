"""Mixing ratio of each token, as a mean over the layers."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need, Setting
from analysis.statistics.columns import single
from analysis.statistics.mixing.sequence_mixing_ratio import RATIO_SCOPE
from analysis.statistics.question import asks
from analysis.statistics.table import POSITION, SEQUENCE, TYPE_OF_ENTRY, Table

TABLE = Table(
    name="token_mixing_ratio",
    grain="one row per token and scope",
    key=(SEQUENCE, POSITION, RATIO_SCOPE),
    values=(single("mean", "mixing ratio of the token, mean over layers", "ratio"),),
    source="kobayashi-2021",
    needs=(Need.FREQUENCY,),
    laws=("mean >= 0 and mean <= 1 + 1e-5",),
    raw_rows=True,
    order=("scope", "seq", "pos"),
    depends_on=(Setting.GATE_RULE,),
)


@asks(f"""
    with entry as (
        select token_id, any_value(token) as token, {TYPE_OF_ENTRY} as token_type,
            count(*) as n, avg(mean::double) as ratio,
            rank() over (order by count(*) desc) as rank
        from token_mixing_ratio
        join token using (seq, pos)
        where scope = $scope and not is_masked
        group by token_id
    ),
    drawn as (
        from entry
        where $special or token_type not in ('bos', 'cls', 'sep')
        order by hash(token_id), token_id
        limit $limit
    )
    select token, token_type, n, rank, ratio from drawn order by rank, token_id
""")
def words(store: DuckDBPyConnection, *, scope: str, special: bool, limit: int) -> pd.DataFrame:
    """Vocabulary entries with their frequency and mean mixing ratio, without masked places.

    Args:
        special: whether bos, cls and sep are among them.
        limit: number of entries sampled, the same at every call.

    Returns:
        token, token_type, n (occurrences), rank (1 = most frequent in this corpus; ties share the
        smallest), ratio (mean over the occurrences), by rank.
    """
    ...
