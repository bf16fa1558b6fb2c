"""Correlation of word frequency with attention weight and vector norm."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.correlation_parts import Units
from analysis.measures.norms.frequency_correlation import (
    FrequencyCorrelation,
    correlation_of_moments,
    frequency_ranks,
    rank_correlation,
)
from analysis.needs import Need, Setting
from analysis.statistics.columns import count, flag, number, text
from analysis.statistics.fit import FitContext
from analysis.statistics.means import make_table
from analysis.statistics.parts import OF_TOKENS, part_columns, part_laws, part_values
from analysis.statistics.rows import rows_of
from analysis.statistics.table import BY_RANK, Table, interval

SOURCE = text("source", "corpus: counted in this corpus; file: given to the run", "name")
SPECIAL = flag("special_tokens", "whether bos, cls and sep take part")
VALUES = (
    count("n", "token occurrences, masked places not among them", "tokens"),
    number("spearman", "ρ of frequency rank (1 = frequent) and quantity", "ρ", nullable=True),
    *interval("ρ"),
    *part_columns(OF_TOKENS),
)
LAWS = (
    "n > 0",
    "spearman is null or spearman between -1 - 1e-9 and 1 + 1e-9",
    *part_laws(OF_TOKENS),
)
EXACT = 5_000_000
"""Most tokens with exact ranks of values; beyond it ranks are those of bins, `AN_OCTAVE` to the
octave."""
AN_OCTAVE = 4096
IS_SPECIAL = "token_type in ('bos', 'cls', 'sep')"
_MOMENTS = """
    with chosen as (
        select seq, block, rank, {value} as value
        from tokens join ranking using (token_id)
        where {special} or not is_special
    ),
    firsts as (
        select rank, (sum(n) over (order by rank) - (n - 1) / 2) / sum(n) over () - 0.5 as first
        from (select rank, count(*) as n from chosen group by rank)
    ),
    seconds as (
        select value, (sum(n) over (order by value) - (n - 1) / 2) / sum(n) over () - 0.5 as second
        from (select value, count(*) as n from chosen group by value)
    )
    select any_value(block) as block, count(*)::double as n, fsum(first) as a, fsum(second) as b,
        fsum(first * first) as aa, fsum(second * second) as bb, fsum(first * second) as ab
    from chosen join firsts using (rank) join seconds using (value)
    group by seq order by seq
"""
"""Number of tokens of each sequence, and sums of mid-ranks, their squares and products."""


def frequency_rows(
    store: DuckDBPyConnection,
    query: str,
    quantities: Sequence[str],
    context: FitContext,
    *,
    name: str,
    exact: int = EXACT,
) -> pd.DataFrame:
    """One row per source of frequencies, with or without bos, cls and sep, and quantity.

    Args:
        query: seq, block, token_id, is_special and the quantities of every token that is read, so
            not of masked places, which would pass for the commonest word.
        name: what the quantities are called in a row.
        exact: of how many tokens everything is held in memory.

    Returns:
        No row where no token is left.
    """
    make_table(store, "tokens", query)
    counts = store.execute("select token_id, count(*) as n from tokens group by token_id").df()
    ids = counts["token_id"].to_numpy(dtype=np.int64)
    corpus = np.bincount(ids, weights=counts["n"].to_numpy()).astype(np.int64)
    correlate = _in_memory if corpus.sum() <= exact else _in_store
    ranks = {"corpus": frequency_ranks(corpus), **context.frequency_ranks}
    rows = [
        {"source": source, "special_tokens": special, name: quantity, **row}
        for source, ranking in ranks.items()
        for special in (True, False)
        for quantity in quantities
        for row in correlate(store, quantity, ranking, context, special=special)
    ]
    store.execute("drop table tokens")
    return pd.DataFrame(rows)


def _in_memory(
    store: DuckDBPyConnection,
    quantity: str,
    ranking: np.ndarray,
    context: FitContext,
    *,
    special: bool,
) -> Iterator[dict]:
    chosen = f'select seq, block, token_id, "{quantity}" as value from tokens where $special'
    asked = {"special": special}
    tokens = store.execute(f"{chosen} or not is_special", asked).df()
    if len(tokens):
        _, first, sequences = np.unique(
            tokens["seq"].to_numpy(), return_index=True, return_inverse=True
        )
        values = tokens["value"].to_numpy(dtype=np.float64)
        redrawn = _units(tokens["block"].to_numpy()[first], context)
        ranks = ranking[tokens["token_id"].to_numpy()]
        yield _row(len(values), rank_correlation(ranks, values, sequences, redrawn))


def _in_store(
    store: DuckDBPyConnection,
    quantity: str,
    ranking: np.ndarray,
    context: FitContext,
    *,
    special: bool,
) -> Iterator[dict]:
    ids = pa.array(np.arange(len(ranking)), pa.int32())
    store.register("ranking", pa.table({"token_id": ids, "rank": ranking}))
    value = f'if("{quantity}" > 0, floor(log2("{quantity}"::double) * {AN_OCTAVE}), -1e9)'
    rows = store.execute(_MOMENTS.format(value=value, special=str(special).lower())).df()
    store.unregister("ranking")
    if len(rows):
        moments = rows[["n", "a", "b", "aa", "bb", "ab"]].to_numpy(dtype=np.float64)
        redrawn = _units(rows["block"].to_numpy(), context)
        yield _row(int(moments[:, 0].sum()), correlation_of_moments(moments, redrawn))


def _units(blocks: np.ndarray, context: FitContext) -> Units:
    """The blocks that sequences are redrawn with."""
    present, of_sequence = np.unique(blocks, return_inverse=True)
    return Units(context.redraws(present), of_sequence)


def _row(n: int, correlation: FrequencyCorrelation | None) -> dict:
    if correlation is None:
        return {"n": n, "spearman": np.nan}
    *numbers, parts = correlation
    row = dict(zip(("spearman", "low", "high"), numbers, strict=True))
    return {"n": n, **row, **part_values(OF_TOKENS, parts)}


_QUANTITIES = ("attention", "value_norm")
_TOKENS = f"""
    select seq, any_value(block) as block, token_id, {IS_SPECIAL} as is_special,
        avg(attention_received::double / n_tokens)::float as attention,
        avg(value_norm::double)::float as value_norm
    from head_token
    join token using (seq, pos, token_type)
    join sequence using (seq)
    join blocks using (seq)
    where not is_masked
    group by seq, pos, token_id, token_type
    order by seq, pos
"""
"""Means in single precision: equal ones tie, in whatever order their parts were added."""


def _correlations(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the rows of both quantities.

    Masked places have no row, but attend: their weights count in the attention that words receive.
    """
    rows = frequency_rows(store, _TOKENS, _QUANTITIES, context, name="quantity")
    return rows_of(table, [rows] if len(rows) else [])


TABLE = Table(
    name="frequency_correlation",
    grain="one row per source of frequencies, quantity, and with or without special tokens; masked "
    "places left out",
    key=(
        SOURCE,
        text("quantity", "attention or value_norm, mean over layers and heads", "name"),
        SPECIAL,
    ),
    values=VALUES,
    source="kobayashi-2020",
    declared=BY_RANK,
    needs=(Need.FREQUENCY, Need.OWN_VECTORS),
    laws=LAWS,
    depends_on=(Setting.FREQUENCIES,),
    version=4,
    requires=("head_token",),
    made_by=_correlations,
)
