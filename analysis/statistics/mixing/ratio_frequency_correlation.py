"""Mixing ratio of each token, and its correlation with the frequency of the word."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import Need, Setting
from analysis.scopes import OF_RATIOS
from analysis.statistics.agreement import BY_RANK
from analysis.statistics.columns import single
from analysis.statistics.fit import FitContext
from analysis.statistics.mixing.mixing_ratio import RATIO_SCOPE
from analysis.statistics.norms.frequency_correlation import (
    IS_SPECIAL,
    LAWS,
    SOURCE,
    SPECIAL,
    VALUES,
    frequency_rows,
)
from analysis.statistics.question import asks, placed
from analysis.statistics.rows import rows_of
from analysis.statistics.table import POSITION, SEQUENCE, TYPE_OF_ENTRY, Table

PER_TOKEN = Table(
    name="token_mixing_ratio",
    grain="one row per token and scope",
    key=(SEQUENCE, POSITION, RATIO_SCOPE),
    values=(single("mean", "mixing ratio of the token, mean over layers", "ratio"),),
    source="kobayashi-2021",
    requires=("layer_completeness",),
    needs=(Need.FREQUENCY,),
    laws=("mean >= 0 and mean <= 1 + 1e-5",),
    raw_rows=True,
    order=("scope", "seq", "pos"),
    depends_on=(Setting.GATE_RULE,),
)
_TOKENS = f"""
    select seq, any_value(block) as block, token_id, {IS_SPECIAL} as is_special, {{means}}
    from token_mixing_ratio
    join token using (seq, pos)
    join blocks using (seq)
    where not is_masked
    group by seq, pos, token_id, token_type
    order by seq, pos
"""


def _rows(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per source of frequencies, scope, and with or without special tokens."""
    scopes = context.order.of_ratios
    means = ", ".join(f"max(mean) filter (scope = '{scope}') as \"{scope}\"" for scope in scopes)
    rows = frequency_rows(store, _TOKENS.format(means=means), scopes, context, name="scope")
    return rows_of(table, [rows] if len(rows) else [])


TABLE = Table(
    name="ratio_frequency_correlation",
    grain="one row per source of frequencies, scope, and with or without special tokens; masked "
    "places left out",
    key=(SOURCE, RATIO_SCOPE, SPECIAL),
    values=VALUES,
    source="kobayashi-2021",
    version=2,
    requires=("token_mixing_ratio",),
    made_by=_rows,
    declared=BY_RANK,
    needs=(Need.FREQUENCY,),
    laws=LAWS,
    depends_on=(Setting.FREQUENCIES,),
)


@asks(f"""
    from ratio_frequency_correlation
    order by source desc, {placed(OF_RATIOS, "scope")}, special_tokens desc
""")
def correlations(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every row, in the order of `OF_RATIOS`."""
    ...


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
