"""Effect of each module of a layer on the mixing of two tokens: means over the corpus."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import stdtrit

from analysis.measures.bootstrap import LEVEL
from analysis.measures.pairs.mixing_change import LEAST_DEGREES, LEAST_SEQUENCES, mean_interval
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


def with_interval(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with `low` and `high` of their mean in place of its error; NaN if too few."""
    names = ("mean_delta", "standard_error", "degrees")
    low, high = mean_interval(*(frame[name].to_numpy(np.float64) for name in names))
    renamed = frame.rename(columns={"standard_error": "low", "degrees": "high"})
    return renamed.assign(low=low, high=high)


_DEGREE = 16
_LEAST_REACH = 1.9  # standard errors: the least reach of any interval, whatever the degrees


def _log_reach(inverse_degrees: np.ndarray) -> np.ndarray:
    """Logarithm of the number of standard errors that the interval reaches."""
    return np.log(stdtrit(1 / np.maximum(inverse_degrees, 1e-12), (1 + LEVEL) / 2))


def _reach() -> str:
    """Standard errors to either end of the interval: the quantile of t, which SQL lacks.

    Its logarithm is a polynomial of the inverse of `degrees`, to 2e-11 of the quantile, so that the
    query can rank pairs. The intervals on display are those of `mean_interval`.
    """
    domain = [0, 1 / LEAST_DEGREES]
    fitted = Chebyshev.interpolate(_log_reach, _DEGREE, domain=domain)
    first, *others = fitted.convert(kind=Polynomial, domain=domain).coef[::-1]
    place = f"({2 * LEAST_DEGREES:.17e} / degrees - 1)"
    terms = "".join(f" * {place} + {coefficient:.17e})" for coefficient in others)
    return f"exp({'(' * len(others)}{first:.17e}{terms})"


DISTANCE_FROM_ZERO_SQL = f"""
    case when degrees::double >= {LEAST_DEGREES:.17e} and abs(mean) > {_LEAST_REACH} * error
    then nullif(greatest(abs(mean::double) - {_reach()} * error, 0), 0) end
"""
"""Distance from 0 to the nearer end of the interval, as SQL over `mean`, `error` and `degrees`;
NULL if the interval holds 0 or is absent."""
