"""Effects of modules on the mixing of two tokens, the pairs themselves, and their lists."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import stdtrit

from analysis.measures.bootstrap import LEVEL
from analysis.measures.pairs.mixing_change import LEAST_DEGREES, LEAST_SEQUENCES, mean_interval
from analysis.measures.pairs.mutual_information import pointwise_mutual_information
from analysis.needs import Need
from analysis.scopes import EFFECTS, RELATIONS, SHARED_EFFECTS
from analysis.statistics.base.columns import (
    LAYER,
    SEQ,
    Column,
    flag,
    length,
    named,
    number,
    place,
    share,
    signed,
    text,
    whole,
    with_names,
)
from analysis.statistics.base.tables import FitContext, Table, query, view

SINGLE: Any = {"type": pa.float32()}
_ROUNDED: Any = {"least": -1 - 1e-6, "most": 1 + 1e-6}
EFFECT = named(
    "which step is looked at: what stands between attention and network (res_ln, ln_res or "
    "ln_res_ln), the network (ff), or what follows it (ff_res, ff_ln), as the layer's order has it",
    tuple(EFFECTS),
    name="effect",
)
RELATION = named(
    "how two tokens relate: special, same_word, word_pieces, adjacent, same_segment, other_segment",
    RELATIONS,
    name="relation",
)
SOURCE = whole("token id of w_j, the token that is mixed in", name="source")
TARGET = whole("token id of w_i, the token that receives", name="target")
SOURCE_POSITION = place("position of w_j, counted from 0", name="source_pos")
TARGET_POSITION = place("position of w_i, counted from 0", name="target_pos")
_FEW = f"below {LEAST_SEQUENCES} sequences"
_ERROR = "cluster-robust standard error of the mean (CR2, sequences as clusters)"
_COUNTED = {
    "n": whole(
        "occurrences: ordered pairs of positions i ≠ j within a sequence, j < i in a causal model",
        "pairs",
        least=1,
    ),
    "n_sequences": whole("sequences with an occurrence", "sequences", least=1, most="n"),
}
_DEGREES = number(
    "Satterthwaite's degrees of freedom of the standard errors",
    least=1 - 1e-3,
    null=_FEW,
    **SINGLE,
)
_PLACE_OF_RELATION = Column(
    "most frequent relation, as a place in RELATIONS; 0, special, with a special or masked token",
    "index",
    type=pa.int8(),
    least=0,
    most=len(RELATIONS) - 1,
)

# changes of pairs of positions, and their means over all occurrences of a pair of tokens


def _of_effects(prefix: str, column: Column) -> dict[str, Column]:
    """Return a column for every effect; a step that only layers of some orders have may be NULL."""
    columns = {}
    for effect in EFFECTS:
        reasons = (column.null, "" if effect in SHARED_EFFECTS else "in a layer without this step")
        null = " and ".join(filter(None, reasons))
        meaning = f"{column.meaning}, {effect}"
        columns[f"{prefix}{effect}"] = replace(column, meaning=meaning, null=null)
    return columns


def _each(pattern: str) -> str:
    """Return a column for every effect."""
    return ", ".join(pattern.format(e=effect) for effect in EFFECTS)


_BY_RELATION = ", ".join(f"count(*) filter (relation = {at})" for at in range(len(RELATIONS)))
RELATION_COUNTS = f"[{_BY_RELATION}]"
"""Number of a group's occurrences by relation, as a list in the order of `RELATIONS`."""
RELATION_OF_COUNTS = "(if(counts[1] > 0, 1, list_position(counts, list_max(counts))) - 1)::tinyint"
"""Index of the most frequent relation in `counts`, the first of several. Special, the first of all,
wins wherever it occurs, since a special token is special in every sequence."""
_LEVERAGE = "(c * c / (1 - c / n))"
_VARIANCE = "fsum((sum_{e} - c * {e}) ** 2 / (1 - c / n)) / (n * n)"
_DEVIATIONS = _each(
    "case when n > 1 and {e} is not null then "
    "sqrt(greatest({e}_square - {e} * {e}, 0) * n / (n - 1)) end::float as std_{e}"
)
_MERGE = f"""
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
                + (fsum{_LEVERAGE} ** 2 - fsum({_LEVERAGE} ** 2)) / (n * n)))::float as degrees,
            {_each(f"sqrt({_VARIANCE})::float as error_{{e}}")}
        from by_sequence
        join (select * replace (n::double as n) from repeated) using (layer, source, target)
        group by layer, source, target, n
    )
    select layer, source, target, n, n_sequences, {RELATION_OF_COUNTS} as relation,
        {_each("{e}::float as mean_{e}")}, {_DEVIATIONS}, degrees, {_each("error_{e}")}
    from averages
    left join spread using (layer, source, target)
"""
"""A row of all occurrences of a pair. Sums are compensated, so that row order and threads change no
bit. `spread` has CR2's variance and Satterthwaite's degrees of freedom of the mean, as
`mean_interval` defines them, from the sums of each sequence."""


def _long(*more: str) -> str:
    """Return SQL that turns all effects' columns into rows; queries on one `effect` skip others."""
    effects = " union all ".join(
        f"select layer, '{effect}' as effect, source, target, n, n_sequences, "
        f"mean_{effect} as mean_delta, std_{effect} as std_delta, "
        f"error_{effect} as standard_error, degrees from stored.pair_delta "
        f"where mean_{effect} is not null"
        for effect in EFFECTS
    )
    numbers = ("mean_delta", "std_delta", *more)
    return f"""
        select layer, effect, s.token as source, t.token as target, n, n_sequences,
            {", ".join(f"{column}::double as {column}" for column in numbers)}
        from ({effects}) as pair
        join stored.vocabulary as s on s.token_id = pair.source
        join stored.vocabulary as t on t.token_id = pair.target
    """


_MEAN = signed("mean change over occurrences", **_ROUNDED)
_STD = length("sample standard deviation over occurrences", "share", null="for a single one")
_OF_ERROR = length(_ERROR, "share", null=_FEW)
_BY_TOKENS = (
    LAYER,
    EFFECT,
    text("w_j, the token that is mixed in", name="source"),
    text("w_i, the token that receives", name="target"),
)
_LONG = {**_COUNTED, "mean_delta": _MEAN, "std_delta": _STD}
PAIR_DELTA = Table(
    "pair_delta",
    key=(LAYER, SOURCE, TARGET),
    values={
        **_COUNTED,
        "relation": _PLACE_OF_RELATION,
        **_of_effects("mean_", _MEAN),
        **_of_effects("std_", _STD),
        "degrees": _DEGREES,
        **_of_effects("error_", _OF_ERROR),
    },
    source="kobayashi-2024",
    needs=(Need.PAIRS,),
    laws=(
        *(f"(std_{effect} is null) = (n = 1 or mean_{effect} is null)" for effect in EFFECTS),
        f"(degrees is null) = (n_sequences < {LEAST_SEQUENCES})",
        *(f"(error_{e} is null) = (degrees is null or mean_{e} is null)" for e in EFFECTS),
    ),
    merge=_MERGE,
    order=("layer", "n desc", "source", "target"),
    raw=(
        SEQ,
        LAYER,
        SOURCE_POSITION,
        TARGET_POSITION,
        SOURCE,
        TARGET,
        flag("whether the pair is new to its sequence", name="is_first"),
        replace(
            _PLACE_OF_RELATION,
            meaning="how the two tokens relate, as a place in RELATIONS",
            name="relation",
        ),
        *with_names(_of_effects("", signed("change of the share of w_j in w_i"))),
    ),
    piece="layer",
    rarest=("source", "target"),
    shown_as="pair_delta_wide",
    views=(
        view("pair_delta", _BY_TOKENS, _LONG, sql=_long()),
        view(
            "pair_delta_interval",
            _BY_TOKENS,
            {**_LONG, "standard_error": _OF_ERROR, "degrees": replace(_DEGREES, type=None)},
            note="with what its interval is made of",
            sql=_long("standard_error", "degrees"),
        ),
    ),
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

# pairs of tokens in the corpus, and the lists of those that change most

WIDEST = """(
    select layer from pair_delta_shards group by layer order by count(*) desc, layer limit 1
)"""
"""The first layer with the widest window, which has every pair that any layer has."""
_COUNTED_PAIRS = f"""
    with counted as materialized (
        select source, target, n, n_sequences, {RELATION_OF_COUNTS} as relation,
            counts[relation + 1] / n as relation_share, counts[1] > 0 as has_special
        from (
            select source, target, count(*)::integer as n,
                (count(*) filter (is_first))::integer as n_sequences, {RELATION_COUNTS} as counts
            from pair_delta_shards
            where layer = {WIDEST}
            group by source, target
        )
    ),
    of_words as (from counted where not has_special)
    select counted.*, n_source, n_target,
        (select coalesce(sum(n), 0)::bigint from of_words) as n_all
    from counted
    semi join (from pair_delta_wide where layer = {WIDEST}) using (source, target)
    left join (select source, sum(n)::bigint as n_source from of_words group by source)
        using (source)
    left join (select target, sum(n)::bigint as n_target from of_words group by target)
        using (target)
"""


def _counted_pairs(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Count the pairs of `pair_delta` in the first layer with the widest window.

    PMI refers to all pairs of words, listed or not.
    """
    pairs = store.execute(_COUNTED_PAIRS).df()
    of_words = ~pairs["has_special"].to_numpy()
    pmi = np.full(len(pairs), np.nan)
    counted = pairs.loc[of_words, ["n", "n_source", "n_target"]].to_numpy().astype(np.int64)
    n_all = int(pairs["n_all"].max()) if len(pairs) else 0
    pmi[of_words] = pointwise_mutual_information(*counted.T, n_all=n_all)
    relation = pairs["relation"].map(dict(enumerate(RELATIONS)))
    return table.rows([pairs.assign(pmi=pmi, relation=relation)])


PAIR = Table(
    "pair",
    key=(SOURCE, TARGET),
    values={
        **_COUNTED,
        "pmi": number(
            "pointwise mutual information log2 p(w_j, w_i) / (p(w_j) p(w_i)) over the occurrences "
            "of pairs of words",
            "bits",
            null="with a special or masked token",
            **SINGLE,
        ),
        "relation": replace(
            RELATION, meaning="most frequent relation; special with a special or masked token"
        ),
        "relation_share": share("share of the occurrences with this relation", **SINGLE),
        "has_special": flag("whether a special or masked token takes part"),
    },
    source="church-1990",
    needs=(Need.PAIRS,),
    laws=(
        "(pmi is null) = has_special",
        "relation_share > 0",
        "has_special = (relation = 'special')",
    ),
    order=("n desc", "source", "target"),
    version=2,
    requires=("pair_delta",),
    made_by=_counted_pairs,
)

KEPT = 300
MIN_COUNTS = (1, 2, 5, 10)


def _lists(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Rank the pairs of every layer, effect, direction, minimum count and relation."""
    layers = store.execute("select distinct layer from pair_delta_wide order by layer").fetchall()
    return table.rows(rows for (layer,) in layers for rows in _lists_of_layer(store, layer))


def _lists_of_layer(store: DuckDBPyConnection, layer: int) -> Iterator[pd.DataFrame]:
    pairs = store.execute("from pair_delta_wide where layer = $layer", {"layer": layer}).df()
    target, source = (pairs[side].to_numpy() for side in ("target", "source"))
    groups = []
    for least, relation in product(MIN_COUNTS, range(len(RELATIONS))):
        members = np.flatnonzero((pairs["n"] >= least) & (pairs["relation"] == relation))
        groups.append((least, members, target[members], source[members]))
    for effect in EFFECTS:
        mean = pairs[f"mean_{effect}"].to_numpy()
        if np.isnan(mean).all():  # a step of layers of another order
            continue
        lists = [
            (sign > 0, least, members[_largest(sign * mean[members], *ids)])
            for (least, members, *ids), sign in product(groups, (1, -1))
        ]
        amplified, least, chosen = zip(*lists, strict=True)
        lengths = [len(one) for one in chosen]
        measured = {f"{name}_{effect}": name for name in ("mean", "std", "error")}
        rows = pairs.iloc[np.concatenate(chosen)].rename(columns=measured)
        yield rows.assign(
            effect=effect,
            amplified=np.repeat(amplified, lengths),
            min_count=np.repeat(least, lengths),
            place=np.concatenate([np.arange(1, length + 1) for length in lengths]),
        )


def _largest(values: np.ndarray, target: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Places of the `KEPT` largest values above 0; equal ones by the ids of source and target."""
    places = np.flatnonzero(values > 0)
    if len(places) > KEPT:
        least = np.partition(values[places], -KEPT)[-KEPT]
        places = places[values[places] >= least]
    return places[np.lexsort((target[places], source[places], -values[places]))][:KEPT]


PAIR_EXTREME = Table(
    "pair_extreme",
    key=(
        LAYER,
        EFFECT,
        flag("whether the change is above 0, or below", name="amplified"),
        whole("how often a pair occurs at least", "pairs", name="min_count", least=1),
        replace(_PLACE_OF_RELATION, name="relation"),
        whole("place in the order of the change, from 1", name="place", least=1, most=KEPT),
    ),
    values={
        "source": SOURCE,
        "target": TARGET,
        **_COUNTED,
        "mean": replace(_MEAN, **SINGLE),
        "std": replace(_STD, **SINGLE),
        "error": replace(_OF_ERROR, **SINGLE),
        "degrees": _DEGREES,
    },
    source="kobayashi-2024",
    note=f"the first {KEPT} pairs",
    needs=(Need.PAIRS,),
    laws=(
        "n >= min_count",
        "mean <> 0 and (mean > 0) = amplified",
        "(std is null) = (n = 1)",
    ),
    version=2,
    requires=("pair_delta",),
    made_by=_lists,
)

LIMIT = 10
_LISTED = f"""
    select distinct layer, effect, source, target
    from pair_extreme
    window list as (
        partition by layer, effect, amplified, min_count order by abs(mean) desc, source, target
    ),
    list_of_words as (
        partition by layer, effect, amplified, min_count, relation = 0
        order by abs(mean) desc, source, target
    )
    qualify row_number() over list <= {LIMIT}
        or (relation <> 0 and row_number() over list_of_words <= {LIMIT})
"""
"""The first pairs of every list by mean change, with special tokens and without."""


def _occurrences(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Find the occurrences of the pairs of all lists in the sequences whose text the file keeps."""
    deltas = " ".join(f"when '{effect}' then {effect}" for effect in context.order.effects)
    found = f"""
        select layer, effect, source, target, seq, source_pos, target_pos,
            case effect {deltas} end as delta
        from pair_delta_shards
        join ({_LISTED}) using (layer, source, target)
        semi join texts using (seq)
    """
    return query(found)(table, store, context)


PAIR_OCCURRENCE = Table(
    "pair_occurrence",
    key=(LAYER, EFFECT, SOURCE, TARGET, SEQ, SOURCE_POSITION, TARGET_POSITION),
    values={"delta": signed("change of the share of w_j in w_i", **_ROUNDED, **SINGLE)},
    source="kobayashi-2024",
    note=f"the pairs among the first {LIMIT} of a layer and effect",
    needs=(Need.PAIRS,),
    many_rows=True,
    laws=("source_pos <> target_pos",),
    requires=("pair_delta", "pair", "pair_extreme"),
    made_by=_occurrences,
)
