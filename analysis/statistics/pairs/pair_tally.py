"""Numbers of pairs that a list is chosen from, and of those clear of 0."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.measures.pairs.pair_delta import LEAST_DEGREES
from analysis.statistics.pairs.pair_ranking import ALL, PairSelection
from analysis.statistics.question import frame_of


def tally(
    store: DuckDBPyConnection,
    *,
    effect: str,
    layers: list[int],
    min_count: int,
    text: str = "",
    relation: str = ALL,
    special: bool = True,
    source: str = "",
    target: str = "",
) -> pd.DataFrame:
    """Count the pairs that meet the conditions of a list, with any direction, rank and interval.

    Args:
        layers: in which they are counted, once in each; all other options are those of
            `pair_delta.browse`.

    Returns:
        One row: n_pairs, n_sure (those with an interval), n_clear (those clear of 0), their share
        of these, and n_amplified and n_attenuated of them.

    Raises:
        UnknownName: no such effect or relation.
    """
    conditions = (text, relation, special, "bound", False, source, target)
    chosen = PairSelection(effect, "largest", min_count, 0, *conditions)
    rows = chosen.with_text(chosen.rows(layers)) if text else chosen.rows(layers)
    return frame_of(
        store,
        f"""
        {chosen.words} fulfilling as ({rows})
        select count(*) as n_pairs,
            count(*) filter (degrees::double >= {LEAST_DEGREES}) as n_sure,
            count(near) as n_clear, coalesce(n_clear / nullif(n_sure, 0), 0) as share,
            count(*) filter (near is not null and mean > 0) as n_amplified,
            count(*) filter (near is not null and mean < 0) as n_attenuated
        from fulfilling
        """,
        {name: value for name, value in chosen.values.items() if name != "limit"},
    )
