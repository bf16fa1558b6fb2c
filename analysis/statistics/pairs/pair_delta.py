"""Effect of each module of a layer on the mixing of two tokens: means over the corpus."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.errors import UnknownName
from analysis.measures.pairs.mixing_change import LEAST_SEQUENCES
from analysis.needs import Need
from analysis.scopes import EFFECTS, SHARED_EFFECTS
from analysis.statistics.columns import flag, number, single, text
from analysis.statistics.pairs.pair import (
    ERROR,
    FEW,
    OCCURRENCES,
    PAIR_DEGREES,
    PAIR_RELATION,
    PAIR_SEQUENCES,
    RELATION_COUNTS,
    RELATION_OF_COUNTS,
    SOURCE,
    SOURCE_POSITION,
    TARGET,
    TARGET_POSITION,
)
from analysis.statistics.pairs.pair_ranking import ALL, PairSelection, listed, with_interval
from analysis.statistics.question import frame_of, placed
from analysis.statistics.table import EFFECT, LAYER, SEQUENCE, Column, Table, View

_ALONE = "NULL for a single one"


def _effect_columns(prefix: str, meaning: str, *, nullable: bool = False) -> tuple[Column, ...]:
    """Return a column for every effect, whose name replaces {step} in the meaning.

    A step that only layers of some orders have is NULL in all others.
    """
    return tuple(
        single(
            f"{prefix}{effect}",
            meaning.format(step=_step(effect)),
            nullable=nullable or effect not in SHARED_EFFECTS,
        )
        for effect in EFFECTS
    )


def _step(effect: str) -> str:
    return effect if effect in SHARED_EFFECTS else f"{effect}; NULL in a layer without this step"


def _each(pattern: str) -> str:
    """Return a column for every effect."""
    return ", ".join(pattern.format(e=effect) for effect in EFFECTS)


def _merge() -> str:
    """Return the query that makes a row of all occurrences of a pair.

    Its sums are compensated, so that row order and threads change no bit. `spread` has CR2's
    variance and Satterthwaite's degrees of freedom of the mean, as `mean_interval` defines them,
    from the sums of each sequence.
    """
    leverage = "(c * c / (1 - c / n))"
    variance = "fsum((sum_{e} - c * {e}) ** 2 / (1 - c / n)) / (n * n)"
    deviations = _each(
        "case when n > 1 and {e} is not null then "
        "sqrt(greatest({e}_square - {e} * {e}, 0) * n / (n - 1)) end::float as std_{e}"
    )
    return f"""
        with averages as (
            select layer, source, target,
                count(*)::integer as n,
                (count(*) filter (is_first))::integer as n_sequences,
                {RELATION_COUNTS} as counts,
                {_each("favg({e}::double) as {e}, favg({e}::double * {e}) as {e}_square")}
            from shards
            group by layer, source, target
        ),
        repeated as (from averages where n_sequences >= {LEAST_SEQUENCES}),
        by_sequence as (
            select layer, source, target, seq, count(*)::double as c,
                {_each("fsum({e}::double) as sum_{e}")}
            from shards
            semi join repeated using (layer, source, target)
            group by layer, source, target, seq
        ),
        spread as (
            select layer, source, target,
                (n * n / (fsum(c * c)
                    + (fsum{leverage} ** 2 - fsum({leverage} ** 2)) / (n * n)))::float as degrees,
                {_each(f"sqrt({variance})::float as error_{{e}}")}
            from by_sequence
            join (select * replace (n::double as n) from repeated) using (layer, source, target)
            group by layer, source, target, n
        )
        select layer, source, target, n, n_sequences, {RELATION_OF_COUNTS} as relation,
            {_each("{e}::float as mean_{e}")}, {deviations},
            degrees, {_each("error_{e}")}
        from averages
        left join spread using (layer, source, target)
    """


def _of_effect(effect: str, rows: str) -> str:
    """Return SQL that turns one effect's columns into rows."""
    return (
        f"select layer, '{effect}' as effect, source, target, n, n_sequences, "
        f"mean_{effect} as mean_delta, std_{effect} as std_delta, "
        f"error_{effect} as standard_error, degrees from {rows} "
        f"where mean_{effect} is not null"
    )


def _long(*more: str) -> str:
    """Return SQL that turns all effects' columns into rows; queries on one `effect` skip others."""
    effects = " union all ".join(_of_effect(effect, "stored.pair_delta") for effect in EFFECTS)
    numbers = ("mean_delta", "std_delta", *more)
    return f"""
        select layer, effect, s.token as source, t.token as target, n, n_sequences,
            {", ".join(f"{column}::double as {column}" for column in numbers)}
        from ({effects}) as pair
        join stored.vocabulary as s on s.token_id = pair.source
        join stored.vocabulary as t on t.token_id = pair.target
    """


_GRAIN = "one row per layer, effect and ordered pair of tokens that occurs"
_LONG = (
    LAYER,
    EFFECT,
    text("source", "w_j, the token that is mixed in"),
    text("target", "w_i, the token that receives"),
    OCCURRENCES,
    PAIR_SEQUENCES,
    number("mean_delta", "mean change over occurrences"),
    number("std_delta", f"sample standard deviation over occurrences; {_ALONE}", nullable=True),
)
TABLE = Table(
    name="pair_delta",
    grain="one row per layer and ordered pair of vocabulary entries that occurs",
    key=(LAYER, SOURCE, TARGET),
    values=(
        OCCURRENCES,
        PAIR_SEQUENCES,
        PAIR_RELATION,
        *_effect_columns("mean_", "mean change over occurrences, {step}"),
        *_effect_columns(
            "std_", f"sample standard deviation over occurrences, {{step}}; {_ALONE}", nullable=True
        ),
        PAIR_DEGREES,
        *_effect_columns("error_", f"{ERROR}, {{step}}; {FEW}", nullable=True),
    ),
    source="kobayashi-2024",
    needs=(Need.PAIRS,),
    laws=(
        "n > 0 and n_sequences > 0 and n_sequences <= n",
        *(f"mean_{effect} between -1 - 1e-6 and 1 + 1e-6" for effect in EFFECTS),
        *(f"(std_{effect} is null) = (n = 1 or mean_{effect} is null)" for effect in EFFECTS),
        *(f"coalesce(std_{effect}, 0) >= 0" for effect in EFFECTS),
        f"(degrees is null) = (n_sequences < {LEAST_SEQUENCES})",
        "coalesce(degrees, 1) >= 1 - 1e-3",
        *(f"(error_{e} is null) = (degrees is null or mean_{e} is null)" for e in EFFECTS),
        *(f"coalesce(error_{effect}, 0) >= 0" for effect in EFFECTS),
        *(f"mean_{effect} is not null" for effect in SHARED_EFFECTS),
    ),
    merge=_merge(),
    order=("layer", "n desc", "source", "target"),
    raw=(
        SEQUENCE,
        LAYER,
        SOURCE_POSITION,
        TARGET_POSITION,
        SOURCE,
        TARGET,
        flag("is_first", "whether the pair is new to its sequence"),
        replace(PAIR_RELATION, meaning="how the two tokens relate, as a place in RELATIONS"),
        *_effect_columns("", "change of the share of w_j in w_i, {step}"),
    ),
    piece="layer",
    rarest=("source", "target"),
    shown_as="pair_delta_wide",
    views=(
        View("pair_delta", _GRAIN, _LONG, _long()),
        View(
            "pair_delta_interval",
            f"{_GRAIN}, with what its interval is made of",
            (
                *_LONG,
                number("standard_error", f"{ERROR}; {FEW}", nullable=True),
                replace(PAIR_DEGREES, type=pa.float64()),
            ),
            _long("standard_error", "degrees"),
        ),
    ),
    depends_on=(),
    requires=("layer_completeness",),
)


def top(
    store: DuckDBPyConnection,
    *,
    effect: str,
    amplified: bool,
    layer: int | None,
    min_count: int = 2,
    limit: int = 10,
    text: str = "",
    relation: str = ALL,
    special: bool = True,
    rank: str = "bound",
    clear: bool = False,
) -> pd.DataFrame:
    """The pairs whose mixing a step amplifies most, or attenuates most, on average.

    All pairs are averaged before any is left out, so that as many are listed as exist. Pairs of
    equal rank follow the order of their token ids.

    Args:
        layer: None lists `limit` pairs of every layer.
        min_count: fewest occurrences of a listed pair.
        text: text that one of the two tokens must contain, in any case; in double quotes the whole
            token must match.
        relation: the one of `RELATIONS` that a pair must have most often, or all.
        special: whether pairs with a special token are listed.
        rank: one of `RANKS`: by the bound of the interval that is nearer to 0 (pairs without such
            an interval, or with 0 in it, come last, by their mean), or by the mean alone.
        clear: True to list only pairs whose interval does not hold 0.

    Returns:
        layer, place, source_id, target_id, source, target, n, n_sequences, mean_delta, std_delta,
        low, high (of the mean; NaN where sequences are too few), pmi, relation.

    Raises:
        UnknownName: no such effect, relation or rank.
    """
    order = "amplified" if amplified else "attenuated"
    chosen = PairSelection(effect, order, min_count, limit, text, relation, special, rank, clear)
    return listed(store, chosen, _layers(store) if layer is None else [layer])


def browse(
    store: DuckDBPyConnection,
    *,
    effect: str,
    layer: int,
    min_count: int,
    text: str,
    relation: str,
    special: bool,
    limit: int,
    order: str = "largest",
    rank: str = "bound",
    clear: bool = False,
    source: str = "",
    target: str = "",
) -> pd.DataFrame:
    """Pairs of one layer, largest changes first; options and columns are those of `top`.

    Args:
        source: text that w_j must contain or match, as `text` for either token; `target`: w_i.
        order: one of `ORDERS`: largest (change either way), amplified, attenuated or frequent.

    Raises:
        UnknownName: no such effect, relation, order or rank.
    """
    chosen = PairSelection(
        effect, order, min_count, limit, text, relation, special, rank, clear, source, target
    )
    return listed(store, chosen, [layer])


def of_pair(store: DuckDBPyConnection, *, source_id: int, target_id: int) -> pd.DataFrame:
    """Effect of every step of every layer on one pair: layer, effect, n, n_sequences, mean_delta,
    std_delta, low, high (as in `top`)."""
    effects = " union all ".join(_of_effect(effect, "found") for effect in EFFECTS)
    frame = frame_of(
        store,
        f"""
        with found as materialized (
            from pair_delta_wide where source = $source and target = $target
        )
        select layer, effect, n, n_sequences, mean_delta::double as mean_delta,
            std_delta::double as std_delta, standard_error, degrees
        from ({effects})
        order by layer, {placed(EFFECTS, "effect")}
        """,
        {"source": source_id, "target": target_id},
    )
    return with_interval(frame)


def of_tokens(
    store: DuckDBPyConnection, *, layer: int, effect: str, tokens: list[int]
) -> pd.DataFrame:
    """Every pair of some tokens that occurs, in one layer, with the spread of its occurrences.

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


def _layers(store: DuckDBPyConnection) -> list[int]:
    rows = store.execute("select distinct layer from pair_delta_wide order by layer").fetchall()
    return [layer for (layer,) in rows]
