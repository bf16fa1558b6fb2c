"""Mean change of pairs of given tokens, with intervals and spread of single occurrences."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.errors import UnknownName
from analysis.scopes import EFFECTS
from analysis.statistics.pairs.pair_ranking import with_interval
from analysis.statistics.question import frame_of


def of_tokens(
    store: DuckDBPyConnection, *, layer: int, effect: str, tokens: list[int]
) -> pd.DataFrame:
    """Every pair of some tokens that occurs, in one layer.

    Args:
        tokens: ids, each once.

    Returns:
        source_id, target_id, n, n_sequences, mean_delta, std_delta, low, high (of the mean; NaN
        where sequences are too few).

    Raises:
        UnknownName: no such effect.
    """
    if effect not in EFFECTS:
        raise UnknownName("effect", effect, EFFECTS)
    return with_interval(
        frame_of(
            store,
            f"""
            select source as source_id, target as target_id, n, n_sequences,
                mean_{effect}::double as mean_delta, std_{effect}::double as std_delta,
                error_{effect}::double as standard_error, degrees::double as degrees
            from pair_delta_wide
            where layer = $layer
                and source in (select unnest($tokens)) and target in (select unnest($tokens))
            order by source, target
            """,
            {"layer": layer, "tokens": tokens},
        )
    )
