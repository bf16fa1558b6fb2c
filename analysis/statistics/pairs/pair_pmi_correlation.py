"""Correlation of a step's effect on pairs of tokens with their PMI."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.errors import UnknownName
from analysis.needs import Need
from analysis.scopes import EFFECTS, RELATIONS
from analysis.statistics.columns import count, named, number, small, whole
from analysis.statistics.question import asks, frame_of, placed
from analysis.statistics.table import EFFECT, LAYER, Table

MIN_COUNTS = (2, 5, 10)
WINDOWS = (1, 5, None)
"""Largest distances of two tokens of a pair; None is any distance within a sequence."""
QUANTITIES = ("partial", "pmi", "source_frequency", "target_frequency")
"""Quantities to correlate with the mean change; partial is PMI given both frequencies."""
EXTREMES = 10
TABLE = Table(
    name="pair_pmi_correlation",
    grain="one row per layer, effect, window, minimum count and quantity; pairs with special "
    "tokens are left out",
    key=(
        LAYER,
        EFFECT,
        small(
            "window_size",
            "greatest distance of the two positions; PMI, counts and changes are of the pairs "
            "within it; NULL: any distance within the sequence",
            "tokens",
            nullable=True,
        ),
        whole("min_count", "how often a pair occurs at least", "pairs"),
        named(
            "quantity",
            "what the mean change is compared with: pmi; source_frequency or target_frequency, "
            "how often the word stands in the corpus; partial, which is PMI given both frequencies",
        ),
    ),
    values=(
        count("n_pairs", "pairs of vocabulary entries that take part", "pairs"),
        count("n_words", "vocabulary entries that take part, on either side", "words"),
        number("spearman", "Spearman's ρ of the quantity and mean change", "ρ"),
        *(
            number(
                name,
                f"{end} end of the 95% interval, in which pairs that share a word are not "
                "independent; NULL below 100 words",
                "ρ",
                nullable=True,
            )
            for name, end in (("low", "lower"), ("high", "upper"))
        ),
    ),
    source="church-1990",
    needs=(Need.PAIRS,),
    laws=(
        "n_pairs >= 3 and n_words > 0",
        "spearman between -1 - 1e-9 and 1 + 1e-9",
        "(low is null) = (high is null)",
        "low is null or (low <= spearman and spearman <= high)",
    ),
    depends_on=(),
)


@asks(f"""
    select layer, effect, quantity, n_pairs, n_words, spearman, low, high
    from pair_pmi_correlation
    where min_count = $min_count and window_size is not distinct from $window_size
    order by layer, {placed(EFFECTS, "effect")}, {placed(QUANTITIES, "quantity")}
""")
def by_layer(
    store: DuckDBPyConnection, *, min_count: int, window_size: int | None = None
) -> pd.DataFrame:
    """Every correlation: layer, effect, quantity, n_pairs, n_words, spearman, low, high.

    Args:
        min_count: one of `MIN_COUNTS`.
        window_size: one of `WINDOWS`.
    """
    ...


def points(
    store: DuckDBPyConnection, *, layer: int, effect: str, min_count: int, limit: int
) -> pd.DataFrame:
    """A sample of the correlated pairs, the same at every call, and the extremes of the change.

    Args:
        limit: number of sampled pairs; the `EXTREMES` at either end are added.

    Returns:
        source, target, n (of the layer, whose window may span fewer), pmi, mean_delta, relation.

    Raises:
        UnknownName: no such effect.
    """
    if effect not in EFFECTS:
        raise UnknownName("effect", effect, EFFECTS)
    return frame_of(
        store,
        f"""
        with there as materialized (
            select source, target, of_layer.n, of_layer.relation, pmi, mean_{effect} as mean
            from pair_delta_wide as of_layer join pair using (source, target)
            where layer = $layer and pair.n >= $min_count and not has_special
                and of_layer.n >= least($min_count, {min(MIN_COUNTS)})
        ),
        drawn as (
            (from there order by hash(source, target), source, target limit $limit)
            union
            (from there order by mean desc, source, target limit {EXTREMES})
            union
            (from there order by mean, source, target limit {EXTREMES})
        )
        select s.token as source, t.token as target, drawn.n, pmi::double as pmi,
            mean::double as mean_delta, $relations[drawn.relation + 1] as relation
        from drawn
        join vocabulary as s on s.token_id = drawn.source
        join vocabulary as t on t.token_id = drawn.target
        order by drawn.source, drawn.target
        """,
        {
            "layer": layer,
            "min_count": min_count,
            "limit": limit,
            "relations": list(RELATIONS),
        },
    )
