"""Page on the effect of every module of a layer on mixing (Kobayashi et al. 2021 and 2024)."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from analysis.error_limits import LIMITS
from analysis.scopes import OF_RATIOS, RELATIONS, WEIGHTS, WEIGHTS_WITH_RESIDUAL
from analysis.statistics.base.columns import TYPE_OF_ENTRY
from analysis.statistics.base.correlations import OF_TOKENS, POOLED, at_level
from analysis.statistics.mixing import (
    ATTENTION_ROLLOUT,
    COMPLETENESS,
    DISTANCES,
    LAYER_COMPLETENESS,
    MASK_TYPES,
    MIXING_RATIO,
    RATIO_FREQUENCY_CORRELATION,
    ROLLOUT,
    SCOPE_SIMILARITY,
    SEQUENCE_SCOPE_SIMILARITY,
    TOKEN_MIXING_RATIO,
    VECTOR_AGREEMENT,
    VECTOR_COMPLETENESS,
    VECTOR_ROLLOUT,
    VECTORS,
)
from analysis.statistics.pairs.relations import RELATION_SHARE
from analysis.statistics.question import placed
from pages.charts.colours import LESS_TO_MORE, LOW_TO_HIGH, NEAR_TO_FAR
from pages.charts.maps import Matrix, Ramp
from pages.charts.plots import Bars, Lines, Points, Stacks
from pages.drawn.error_chart import error_chart, worst_errors
from pages.kit.kinds import Custom, Published, Table
from pages.kit.page import Page
from pages.kit.published_table import printed, statistic_of
from pages.kit.section import TEXTS_OF, Choices, Figure, Finding, Pick, Section, rows_of
from pages.layer_mixing.anatomy import anatomy
from pages.services.inquiry import Inquiry
from pages.words.columns import title
from pages.words.names import effect_name, scope_name, token_type_name
from pages.words.numbers import scientific
from pages.words.say import say
from pages.words.scope import say_here

PAIR = ("scope_a", "scope_b")
_NUMBERS = dict.fromkeys(("mean", "low", "high", "std", "min", "max"), "percent")
_OF_LAYER = "layer is not distinct from try_cast($layer as int)"
_CHOSEN = "$scope_a in (scope_a, scope_b) and $scope_b in (scope_a, scope_b)"
_PAIRS = """(
    select scope_similarity_interval.*, scope_b as step, a.position as place,
        b.position - a.position as steps, b.step as module
    from scope_similarity_interval
    join scope as a on a.scope = scope_a join scope as b on b.scope = scope_b)"""
"""Similarity of any two scopes, with the number of steps from the first to the second."""
_STEPS = f"(from {_PAIRS} where steps = 1 and spearman is not null)"
_PLACE = placed(OF_RATIOS, "scope")
_KINDS = placed(("all", *MASK_TYPES[:-1]), "token_type")
_TYPES = f"select distinct token_type from mixing_ratio order by {_KINDS}"
_BEFORE_NETWORK = """
    (select scope from scope where position + 1 = (select position from scope where step = 'ff'))"""
_WHOLE = "(select scope from scope order by position desc limit 1)"
_VECTORS = "(select scope from scope where position = 1)"


def of_layer(name: str) -> Callable[[Inquiry, Choices], Any]:
    """Scopes of the file's layers, by their name in `LayerOrder`."""
    return lambda inquiry, _: getattr(inquiry.store.layer_order, name)


OF_SCOPE, OF_RATIO, WHOLE = map(of_layer, ("scopes", "of_ratios", "whole"))


def changed_most(inquiry: Inquiry, choices: Choices) -> str:
    """Scope before the step that changes the mixing most."""
    rows = f"select scope_a from {_STEPS} where {_OF_LAYER} order by spearman limit 1"
    found = rows_of(rows, inquiry, choices)["scope_a"].tolist()
    return found[0] if found else inquiry.store.layer_order.before_network


def next_scope(inquiry: Inquiry, choices: Choices) -> str:
    """Scope one step further than the chosen one, or before it if that is the last."""
    scopes = inquiry.store.layer_order.scopes
    at = scopes.index(choices["scope_a"])
    return scopes[at + 1 if at + 1 < len(scopes) else at - 1]


def name_of(number: Any) -> str:
    """Display name of what a printed number is of."""
    if number.effect:
        return effect_name(number.effect)
    if number.layer is not None:
        layer = say("published.layer", layer=number.layer)
        return statistic_of(layer, token_type_name(number.token_type))
    scope, has_special = scope_name(number.scope), number.special_tokens
    if has_special is None:
        return scope
    return statistic_of(scope, say_here(f"special_{'with' if has_special else 'without'}"))


def of_papers(quantity: str, ours: str, *keys: str) -> Callable[[Inquiry, Choices], pd.DataFrame]:
    """Printed numbers beside those of the file; of every layer, those of the chosen scope."""

    def ask(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
        def is_shown(number: Any) -> bool:
            return (number.scope if number.layer else None) == choices.get("scope")

        return printed(quantity, rows_of(ours, inquiry, {}), keys, name_of, is_shown)

    return ask


SIMILARITY = Section(
    "similarity",
    (SCOPE_SIMILARITY, SEQUENCE_SCOPE_SIMILARITY),
    picks=(
        Pick("layer", lambda inquiry, _: ["mean", *map(str, inquiry.store.layers)], kind="select"),
        Pick("scope_a", OF_SCOPE, changed_most, "select"),
        Pick("scope_b", OF_SCOPE, next_scope, "select"),
    ),
    figures=(
        Figure(
            "matrix",
            f"""
            select scope_a, scope_b, spearman, low, high, n_sequences from {_PAIRS}
            where {_OF_LAYER} order by place, steps""",
            Matrix(
                x="scope_b",
                y="scope_a",
                value="spearman",
                ramp=lambda rho: Ramp(LOW_TO_HIGH, min(float(rho.min()), 0.9), 1.0),
                marked=PAIR,
            ),
            click={scope: scope for scope in PAIR},
        ),
        Figure(
            "least",
            f"""
            select seq, avg(spearman::double) as spearman, n_tokens, text
            from sequence_scope_similarity join sequence using (seq)
            where ($layer = 'mean' or {_OF_LAYER}) and {_CHOSEN} and $scope_a <> $scope_b
            group by seq, n_tokens, text order by spearman, seq limit 20""",
            Table(columns=("seq", "spearman", "n_tokens", "text"), has_texts=True),
        ),
        Figure(
            "steps",
            f"""
            select layer, scope_a, scope_b, spearman, low, high, step from {_STEPS}
            where layer is not null order by layer, place""",
            Lines(value="spearman", colour="step", zero=False, height=360),
        ),
        Figure(
            "similarity",
            of_papers(
                "similarity",
                f"""
                select concat_ws('_', 'ff', nullif(module, 'ff')) as effect, spearman as mean,
                    low as mean_low, high as mean_high
                from {_STEPS} where layer is null and scope_a like 'attn_res_ln%'""",
                "effect",
            ),
            Published(),
        ),
    ),
    finding=Finding(
        f"""
        with pairs as (from {_PAIRS} where steps > 0 and spearman is not null),
        chosen as (from pairs where {_CHOSEN}),
        told as (
            select if(steps = 1, 'step', 'pair') as name, * from chosen where {_OF_LAYER}
            union all
            (select 'other', * from (from pairs anti join chosen using (scope_a, scope_b))
            where {_OF_LAYER} and steps = 1 order by spearman limit 1)
)
        select name, scope_a, scope_b, step, spearman as value, low, high
        from told where exists (from chosen)""",
        format=".3f",
    ),
)


RATIOS = of_papers("mixing_ratio", "from mixing_ratio", "layer", "scope", "token_type")
RATIO = Section(
    "ratio",
    (MIXING_RATIO,),
    picks=(
        Pick(
            "type",
            lambda inquiry, _: rows_of(_TYPES, inquiry, {})["token_type"].tolist(),
            of="token_type",
        ),
        Pick("span", ("main", "residual", "all")),
    ),
    figures=(
        Figure(
            "curves",
            f"""
            from mixing_ratio_interval where layer is not null and token_type = $type and case $span
                when 'main' then scope in ('{WEIGHTS}', {_VECTORS}, {_BEFORE_NETWORK}, {_WHOLE})
                when 'residual' then scope = '{WEIGHTS_WITH_RESIDUAL}'
                    or list_contains(string_split(scope, '_'), 'res')
                else true end
            order by {_PLACE}, layer""",
            Lines(colour="scope", format=".1%", height=360),
        ),
        Figure(
            "table",
            f"""
            from mixing_ratio_interval where layer is null and token_type = $type
            order by {_PLACE}""",
            Table(columns={"scope": None, **_NUMBERS, "n": None}),
        ),
        Figure("ratio", RATIOS, Published()),
        Figure(
            "map",
            f"""
            from mixing_ratio_interval where layer is not null and scope = $scope
            order by {_KINDS}, layer""",
            Matrix(
                y="token_type",
                format=".1%",
                ramp=lambda ratio: Ramp(LOW_TO_HIGH, 0.0, float(ratio.max()), format=".0%"),
                more=("min", "max", "n"),
            ),
            picks=(Pick("scope", OF_RATIO, WHOLE, "select"),),
        ),
        Figure("ratio_layers", RATIOS, Published()),
    ),
    finding=Finding(
        f"""
        with told as (select {_VECTORS} as vectors, {_WHOLE} as whole,
            if({_BEFORE_NETWORK} = {_VECTORS}, {_WHOLE}, {_BEFORE_NETWORK}) as after)
        select if(scope = after, 'ratio', 'at') as name, scope, token_type, mean as value, low,
            high, scope not in (after, vectors) as beside
        from mixing_ratio_interval, told
        where layer is null and token_type = $type
            and scope in (after, vectors, whole)
        order by list_position([after, vectors, whole], scope)""",
        format=".1%",
    ),
)

_RHO = f"{OF_TOKENS[0]}_spearman"
_SPECIAL = "if(special_tokens, 'with', 'without') as special"
_DISTINCT = "not special_tokens or n > min(n) over (partition by source, scope)"
"""Without special tokens in a corpus, numbers with them are the same."""


def correlations(source: str) -> Figure:
    """Bars of ρ with the frequencies of a source, with and without special tokens."""
    return Figure(
        f"question_{source}",
        f"""
        select source, scope, {_SPECIAL}, n, {at_level(OF_TOKENS, "$frequency_level")}
        from ratio_frequency_correlation where source = '{source}' and spearman is not null
        qualify {_DISTINCT} order by {_PLACE}, special desc""",
        Bars(value="spearman", x="scope", colour="special", format="+.2f"),
        captions=lambda *_: ("caption",),
    )


_GIVEN = """
    select scope, special_tokens, spearman from ratio_frequency_correlation where source = 'file'"""
_COLUMNS = ("source", "scope", "special", _RHO, f"{_RHO}_low", f"{_RHO}_high", "spearman")
FREQUENCY = Section(
    "frequency",
    (RATIO_FREQUENCY_CORRELATION, TOKEN_MIXING_RATIO),
    picks=(Pick("frequency_level", (*OF_TOKENS, POOLED), of="level", format=title),),
    figures=(
        correlations("file"),
        correlations("corpus"),
        Figure(
            "words",
            f"""
            with entry as (
                select token_id, any_value(token) as token, {TYPE_OF_ENTRY} as token_type,
                    count(*) as n, rank() over (order by count(*) desc) as rank,
                    avg(mean::double) as ratio
                from token_mixing_ratio join token using (seq, pos)
                where scope = $frequency_scope and not is_masked
                group by token_id)
            select token, token_type, n, rank, ratio from (
                from entry where token_type not in ('bos', 'cls', 'sep')
                order by hash(token_id), token_id limit 1_500)
            order by rank, token_id""",
            Points(x="rank", value="ratio", marks=("token",), more=("token", "n"), format=".1%"),
            picks=(Pick("frequency_scope", OF_RATIO, of_layer("before_network"), of="scope"),),
        ),
        Figure(
            "table",
            f"""
            select *, {_SPECIAL} from ratio_frequency_correlation qualify {_DISTINCT}
            order by source desc, {_PLACE}, special""",
            Table(columns=(*_COLUMNS, "low", "high", *OF_TOKENS, "n"), named=("source", "special")),
        ),
        Figure(
            "ratio_frequency",
            of_papers("ratio_frequency", _GIVEN, "scope", "special_tokens"),
            Published(),
        ),
    ),
    finding=Finding(
        f"""
        select scope as sentence, if(scope = '{WEIGHTS}', 'weights', 'scope') as name, scope,
            {_RHO} as value, {_RHO}_low as low, {_RHO}_high as high
        from ratio_frequency_correlation
        where not special_tokens and value is not null and scope in ({_BEFORE_NETWORK}, '{WEIGHTS}')
        qualify row_number() over (partition by scope order by source desc) = 1
        order by name""",
        format="+.2f",
        level=0.0,
        least=0.1,
        overview=(),
    ),
)

_OF_CHANGE = {"before": 0.6, "{quantity}": 1.0, "pairs": 0.25}
_LIFTS = """
    select layer, relation, max(mean) filter (quantity = '{quantity}') as {quantity},
        max(columns('ratio.*')) filter (quantity = '{quantity}'),
        max(mean) filter (quantity = 'before') as before,
        max(mean) filter (quantity = 'pairs') as pairs
    from relation_share where effect = $effect group by layer, relation
    having ratio is not null order by {order}, layer"""


def around_one(ratios: pd.Series) -> Ramp:
    widest = min(max(float(ratios.max()), 2.0), 64.0)
    return Ramp(LESS_TO_MORE, 1 / widest, widest, log=True)


MODULES = Section(
    "modules",
    (RELATION_SHARE,),
    picks=(
        Pick("effect", lambda inquiry, _: list(inquiry.store.layer_order.effects), "ff"),
        Pick("quantity", ("change", "gain", "loss")),
    ),
    figures=(
        Figure(
            "shares",
            """
            select * exclude (effect) from relation_share
            where effect = $effect and quantity in ('before', $quantity, 'pairs')
            qualify bool_or(ratio is not null) over () order by layer, relation, quantity""",
            Stacks(colour="relation", side="quantity", sides=_OF_CHANGE),
            notes=("relations",),
        ),
        Figure(
            "lift",
            lambda inquiry, choices: rows_of(
                _LIFTS.format(order=placed(RELATIONS, "relation"), **choices), inquiry, choices
            ),
            Matrix(
                y="relation",
                value="ratio",
                format=".2r",
                ramp=around_one,
                more=("ratio_low", "ratio_high", "{quantity}", "before", "pairs"),
            ),
        ),
    ),
    finding=Finding(
        """
        with ratios as (
            select relation, avg(ratio) as value, count(*) as layers,
                if(count(ratio_low) = layers, avg(ratio_low), null) as low,
                if(count(ratio_low) = layers, avg(ratio_high), null) as high,
                count(*) filter (ratio_low > 1) as n, count(*) filter (ratio_high < 1) as below
            from relation_share
            where effect = $effect and quantity = $quantity and ratio is not null group by all),
        most as (from ratios order by value desc limit 1)
        select 1 as sentence, 'most_' || $quantity as name, $effect as effect, * from most
        union all by name
        select 2 as sentence, 'layers' as name, n, layers, below from most where low is not null""",
        format=".2f",
        level=1.0,
        overview=("most_change",),
    ),
)


_FOLLOWED = (VECTOR_ROLLOUT, VECTOR_AGREEMENT, VECTOR_COMPLETENESS)


def followed(rows: str) -> Callable[[Inquiry, Choices], pd.DataFrame]:
    """Rows of a query on the vectors that were followed, or else on `{shares}` by rollout alone."""

    def ask(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
        held = inquiry.store.holds(*_FOLLOWED)
        if not held and "{shares}" not in rows:
            return pd.DataFrame()
        shares = f"""(
            from {"vector_rollout" if held else "rollout"}
            where scope in ('{VECTORS}', $rollout, '{ATTENTION_ROLLOUT}')
                and (token_type is null or distance is null))"""
        return rows_of(rows.format(shares=shares), inquiry, choices)

    return ask


_BY = ("by_vectors", "by_rollout", "by_attention", "difference", "difference_low")
_OWN = dict.fromkeys((*_BY, "difference_high", "bias"), "percent")
_NEAR = dict(zip(DISTANCES, NEAR_TO_FAR, strict=True))
_SIDES = {ATTENTION_ROLLOUT: 0.3, "{rollout}": 0.6, VECTORS: 1.0}
ROLLOUT = Section(
    "rollout",
    (ROLLOUT,),
    also=_FOLLOWED,
    picks=(Pick("rollout", OF_SCOPE, WHOLE, of="scope"),),
    figures=(
        Figure(
            "own",
            followed("from {shares} where distance = 0 order by layer"),
            Lines(colour="scope", columns=2, format=".1%", height=340),
            half=True,
        ),
        Figure(
            "agreement",
            followed("from vector_agreement where layer is not null order by layer, scope"),
            Lines(value="spearman", colour="scope", columns=2, format=".2f", height=340),
            half=True,
        ),
        Figure(
            "from_distance",
            followed("from {shares} where distance is not null order by layer, distance"),
            Stacks(colour="distance", colours=_NEAR, side="scope", sides=_SIDES, height=480),
            half=True,
        ),
        Figure(
            "from_type",
            followed("from {shares} where token_type is not null order by layer, token_type"),
            Stacks(colour="token_type", side="scope", sides=_SIDES, height=480),
            half=True,
        ),
        Figure(
            "own_place",
            followed(f"""
            select layer, max(mean) filter (scope = '{VECTORS}') as by_vectors,
                max(mean) filter (scope = $rollout) as by_rollout,
                max(mean) filter (scope = '{ATTENTION_ROLLOUT}') as by_attention,
                max(columns('difference.*')) filter (scope = $rollout), any_value(bias) as bias,
                any_value(error) as error, any_value(n_sequences) as n_sequences
            from vector_rollout join (
                select layer, avg(bias_share) as bias, max(relative_error) as error
                from vector_completeness group by layer) using (layer)
            where distance = 0 group by layer order by layer"""),
            Table(columns={"layer": None, **_OWN, "error": "%.1e", "n_sequences": None}),
        ),
    ),
    finding=Finding(
        followed(f"""
        with last as (from {{shares}} where layer = (select max(layer) from {{shares}})),
        kinds as (
            select token_type from last where token_type in ('cls', 'bos', 'first')
            order by list_position(['cls', 'bos', 'first'], token_type) limit 1)
        select distance is null as sentence, list_position(['{VECTORS}', $rollout], scope) as place,
            case row_number() over (partition by sentence order by place nulls last)
                when 1 then if(sentence, 'type', if(place = 1, 'own', 'rolled'))
                else if(place is null, 'attention', 'lengths') end as name,
            layer, scope, token_type, mean as value, low, high
        from last where distance = 0 or token_type = (from kinds)
        order by sentence, place nulls last"""),
        format=".1%",
        overview=(),
    ),
)


def errors(inquiry: Inquiry, _: Choices) -> pd.DataFrame:
    """Worst error of every layer and part, with its text and the error that is allowed."""
    frame = worst_errors(inquiry)
    sequences = sorted({int(seq) for seq in frame["seq"]})
    texts = rows_of(TEXTS_OF, inquiry, {"sequences": sequences})
    limit = LIMITS[inquiry.store.run["dtype"]]
    return frame.merge(texts, on="seq", how="left").assign(limit=limit)


def found_of_errors(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Sentence on the largest error and its limit."""
    frame = errors(inquiry, choices)
    frame["percentile_99"] = frame["percentile_99"].max(skipna=False)
    name = "adds_up" if frame["error"].iloc[0] <= frame["limit"].iloc[0] else "misses"
    numbers = ["error", "limit", "percentile_99"]
    frame[numbers] = frame[numbers].map(scientific).astype(object)
    return frame.assign(name=name, value=float("nan"))[:1]


_ERRORS = {"layer": None, "part": None, "error": "%.1e", "percentile_99": "%.1e"}
_ERRORS |= dict.fromkeys(("seq", "pos", "n_tokens", "text"))
COMPLETENESS = Section(
    "completeness",
    (COMPLETENESS, LAYER_COMPLETENESS),
    figures=(
        Figure(
            "question",
            errors,
            Custom(chart=lambda frame, *_: error_chart(frame, frame["limit"].iloc[0])),
        ),
        Figure("table", errors, Table(columns=_ERRORS)),
    ),
    finding=Finding(found_of_errors, overview=()),
)

PAGE = Page(
    "layer_mixing",
    "lm",
    (SIMILARITY, RATIO, FREQUENCY, MODULES, ROLLOUT, COMPLETENESS),
    moved={"vectors": "rollout"},
    before=(anatomy,),
)

if __name__ == "__main__":
    PAGE.show()
