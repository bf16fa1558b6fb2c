"""Page on attention weights compared with the norms of weighted vectors (Kobayashi et al. 2020)."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd

from analysis.statistics import norms
from analysis.statistics.base.correlations import OF_PAIRS, OF_TOKENS, POOLED, at_level
from pages.charts.maps import HeadMap
from pages.charts.plots import Bars, Lines
from pages.kit.head_choice import Head, head_with_most, short_name
from pages.kit.kinds import Custom, Published, Table
from pages.kit.page import Page
from pages.kit.published_table import printed
from pages.kit.section import HEAD, Choices, Figure, Finding, Pick, Section, rows_of
from pages.norms.pair_panels import pair_panels, pairs, rank_panels
from pages.norms.singular_values import singular_values
from pages.services.inquiry import Inquiry
from pages.words.columns import title
from pages.words.names import token_type_name
from pages.words.quantities import QUANTITIES, ordered_types
from pages.words.say import say
from pages.words.scope import say_here

_SET_APART = "token_type <> 'other'"
_MOST_SPECTRA = 24
_WEAK = 0.1  # a ρ nearer to 0 is no tendency worth mentioning
_WITHIN, _BETWEEN_HEADS, _BETWEEN_LAYERS = OF_PAIRS
_FREQUENCY_COLUMNS = (
    *("source", "quantity", "special"),
    *(f"{OF_TOKENS[0]}_spearman{end}" for end in ("", "_low", "_high")),
    *("spearman", "low", "high", *OF_TOKENS, "n"),
)


def by_gates(inquiry: Inquiry) -> str:
    """Say that tokens have no norm ‖f(x)‖, as f depends on the query; empty if it does not."""
    return say_here("gated") if inquiry.store.facts.get("transforms") == "gated" else ""


def heads_and_mean(inquiry: Inquiry, _: Choices) -> list[str]:
    return ["mean", *(str(head) for head in range(1, int(inquiry.store.run["n_heads"]) + 1))]


def types(table: str) -> Callable[[Inquiry, Choices], list[str]]:
    """Token types with values in a table, special ones first."""
    rows = f"select distinct token_type from {table}"
    return lambda inquiry, _: ordered_types(rows_of(rows, inquiry, {})["token_type"])


def most_drawn(inquiry: Inquiry, _: Choices) -> Head:
    """Head that gives most weight to one type of token that is set apart."""
    sql = f"""
        select layer, head, mean from token_type_interval
        where head is not null and quantity = 'attention' and {_SET_APART}"""
    return head_with_most(rows_of(sql, inquiry, {}), "mean")


ONE_HEAD = Pick("head", kind="head", default=most_drawn)


def bars(quantity: str, *shown_with: str, form: str = ".3f", **when: tuple[str, ...]) -> Figure:
    """Bars of a quantity, which stand beside those of another for some choices."""
    return Figure(
        quantity,
        f"""
        select layer, token_type, quantity, mean, low, high,
            n_sequences as n_present from token_type_interval
        where quantity = '{quantity}' and head is not distinct from try_cast($layers_head as int)
        order by layer, token_type""",
        Bars(colour="token_type", format=form),
        when={"quantity": (quantity, *shown_with), **when},
        half=True,
    )


LAYERS = Section(
    "layers",
    (norms.TOKEN_TYPE_MIXING,),
    picks=(
        Pick("layers_head", heads_and_mean, kind="select"),
        Pick("quantity", ("pair", *QUANTITIES)),
        Pick("norm_as", ("length", "share"), when={"quantity": ("pair", "weighted_norm")}),
    ),
    figures=(
        bars("attention", "pair", form=".1%"),
        bars("value_norm"),
        bars("weighted_norm", "pair", norm_as=("length",)),
        bars("norm_share", "pair", "weighted_norm", form=".1%", norm_as=("share",)),
        Figure(
            "table",
            """
            select layer, token_type, max(mean) filter (quantity = 'attention') as attention,
                max(mean) filter (quantity = 'norm_share') as norm_share,
                max(mean) filter (quantity = 'value_norm') as value_norm,
                max(mean) filter (quantity = 'weighted_norm') as weighted_norm,
                max(n_sequences) as n_present
            from token_type_interval where head is not distinct from try_cast($layers_head as int)
            group by all order by layer, token_type""",
            Table(
                columns={
                    **dict.fromkeys(("layer", "token_type")),
                    **dict.fromkeys(("attention", "norm_share"), "percent"),
                    **dict.fromkeys(("value_norm", "weighted_norm", "n_present")),
                }
            ),
        ),
    ),
    finding=Finding(
        f"""
        with rows as (
            from token_type_interval
            where quantity in ('attention', 'norm_share') and
                head is not distinct from try_cast($layers_head as int)),
        most as (
            select token_type from rows where quantity = 'attention' and {_SET_APART}
            group by token_type order by sum(mean) desc limit 1),
        peak as (
            select layer from rows where quantity = 'attention' and token_type = (from most)
            order by mean desc limit 1),
        parts as (
            select 1 as sentence, 'most' as part, *, token_type = (from most) as own from rows
            union all
            select 2, 'peak', *, token_type = (from most) from rows where layer = (from peak)
            union all
            select 3, 'together', *, {_SET_APART} from rows
            where (select count(distinct token_type) > 1 from rows where {_SET_APART}))
        select sentence, quantity || '_' || part as name, (from most) as token_type,
            (from peak) as layer, sum(mean) filter (own) / count(distinct layer) as value,
            sum(low) filter (own) / count(distinct layer) as low,
            sum(high) filter (own) / count(distinct layer) as high
        from parts where (from most) is not null group by all order by sentence, name desc"""
    ),
    lacks=by_gates,
)

HEADS = Section(
    "heads",
    (norms.TOKEN_TYPE_MIXING,),
    picks=(
        Pick("type", types("token_type_interval"), of="token_type"),
        Pick("scale", ("type", "all")),
        ONE_HEAD,
    ),
    figures=(
        Figure(
            "maps",
            """
            select layer, head, token_type, quantity, mean, low, high, max(mean) over (
                partition by quantity, if($scale = 'all', '', token_type)) as top
            from token_type_interval
            where head is not null and quantity in ('attention', 'value_norm', 'weighted_norm')
            qualify token_type = $type order by layer, head, quantity""",
            HeadMap(
                panel="quantity",
                panels=QUANTITIES,
                format=".4f",
                formats={"attention": ".1%"},
                top="top",
            ),
            click=HEAD,
        ),
    ),
    finding=Finding(
        """
        with heads as (
            select *, median(mean) over (partition by quantity) as median from token_type_interval
            where head is not null and token_type = $type
                and quantity in ('attention', 'weighted_norm')),
        best as (
            from heads qualify row_number() over (partition by quantity order by mean desc) = 1)
        select quantity as sentence, quantity as name, mean as value, low, high, layer, head,
            token_type, if(quantity = 'attention', '.0%', '.3f') as format
        from best where mean > 0
        union all by name
        select quantity as sentence, 'median' as name, median as value, median as low,
            median as high, if(quantity = 'attention', '.0%', '.3f') as format
        from best where mean > 0
        order by sentence, layer nulls last""",
        overview=(),
    ),
    lacks=by_gates,
)


_RHO = f"""(
    select layer, head, token_type, n, unnest([
        {{level: '{_WITHIN}', spearman: median, low: median_low, high: median_high}},
        {
    ", ".join(
        f"{{level: '{part}', spearman: {part}_spearman, low: {part}_spearman_low, "
        f"high: {part}_spearman_high}}"
        for part in OF_PAIRS[1:]
    )
},
        {{level: '{POOLED}', spearman: spearman, low: null, high: null}}], recursive := true)
    from attention_norm_correlation)"""
"""ρ by level; within heads, the median of the heads' own."""
_CHOSEN = "layer is not distinct from $layer and head is not distinct from $head"
_SEVERAL = ("all", "layer")
_RANKED = "attention_norm_correlation where head is not null and spearman is not null"


def rhos(*columns: str, **when: tuple[str, ...]) -> Figure:
    """Table of correlations by token type."""
    return Figure(
        "table",
        f"select * rename (n as pairs) from attention_norm_correlation where {_CHOSEN}",
        Table(columns=("token_type", *columns, "pairs")),
        when=when,
    )


def printed_rhos(inquiry: Inquiry, _: Choices) -> pd.DataFrame:
    """Table 3: pairs of each type and their rank correlation, all heads together."""
    asked = f"from attention_norm_correlation where {_CHOSEN} order by token_type"
    ours = rows_of(asked, inquiry, {})
    return printed("correlation", ours, ("token_type",), lambda of: token_type_name(of.token_type))


RELATION = Section(
    "relation",
    (norms.ATTENTION_NORM_CORRELATION, norms.ATTENTION_NORM_HISTOGRAM),
    also=(norms.ATTENTION_NORM_SAMPLE,),
    picks=(
        Pick("scope", ("all", "layer", "head")),
        Pick("level", (*OF_PAIRS, POOLED), when={"scope": ("all",)}, format=title),
        Pick("level", (*OF_PAIRS[:2], POOLED), when={"scope": ("layer",)}, format=title),
        Pick(
            "layer",
            lambda inquiry, _: inquiry.store.layers,
            lambda inquiry, _: most_drawn(inquiry, _)[0],
            kind="select",
            when={"scope": ("layer",)},
        ),
        Pick("head", kind="head", default=ONE_HEAD.default, when={"scope": ("head",)}),
        Pick("marks", ("density", "sample"), when={"level": (_WITHIN, POOLED, None)}),
    ),
    figures=(
        Figure(
            "pairs",
            pairs,
            Custom(
                value="share", chart=pair_panels, marks=("token_type", "attention_bin", "norm_bin")
            ),
            when={"level": (_WITHIN, POOLED, None)},
            captions=lambda _, choices: (
                *(("caption_within",) if choices.get("level") == _WITHIN else ()),
                f"caption_{choices['marks']}",
            ),
        ),
        Figure(
            "ranks",
            f"""
            select layer, head, token_type, attention_rank - attention as attention_rank,
                norm_rank - norm as norm_rank
            from (
                from attention_norm_correlation
                select *, if(head is null, 0, avg(attention_rank) over of_layer) as attention,
                    if(head is null, 0, avg(norm_rank) over of_layer) as norm
                where layer is not null and (head is null) = ($level = '{_BETWEEN_LAYERS}')
                    and ($layer is null or layer = $layer)
                window of_layer as (partition by layer, token_type))
            order by layer, head, token_type""",
            Custom(chart=rank_panels),
            when={"level": (_BETWEEN_HEADS, _BETWEEN_LAYERS)},
            word="ranks_{level}",
        ),
        Figure(
            "layers",
            f"""
            from {_RHO} where level = $level and layer is not null and head is null
                and spearman is not null order by layer, token_type""",
            Lines(value="spearman", colour="token_type", level=0.0),
            when={"scope": _SEVERAL, "level": (_WITHIN, _BETWEEN_HEADS, POOLED)},
            word="layers_{level}",
        ),
        Figure(
            "heads",
            """
            select layer, head, n, spearman, greatest(max(abs(spearman)) over (), 0.1) as top
            from attention_norm_correlation where head is not null
            qualify token_type = $type
            order by layer, head""",
            HeadMap(value="spearman", format="+.3f", is_signed=True, top="top"),
            picks=(Pick("type", types(_RANKED), of="token_type"),),
            click=HEAD,
            clicked={"scope": "head"},
        ),
        Figure(
            "parts",
            f"""
            from (unpivot (
                select token_type, spearman, {", ".join(OF_PAIRS)} from attention_norm_correlation
                where head is null and layer is not distinct from $layer and spearman is not null)
            on {", ".join(OF_PAIRS)} into name part value contribution)
            where part <> '{_BETWEEN_LAYERS}' or $layer is null""",
            Bars(
                value="contribution",
                x="token_type",
                colour="part",
                more=("spearman",),
                format="+.3f",
            ),
            when={"scope": _SEVERAL},
        ),
        rhos("median", "median_low", "median_high", "spearman", *OF_PAIRS, scope=("all",)),
        rhos("median", "median_low", "median_high", "spearman", *OF_PAIRS[:2], scope=("layer",)),
        rhos("spearman", scope=("head",)),
        Figure("rho", printed_rhos, Published(), when={"scope": ("all",)}),
    ),
    finding=Finding(
        f"""
        with numbers as (from {_RHO} where {_CHOSEN} and spearman is not null),
        most as (
            select token_type from numbers where level = coalesce($level, '{POOLED}')
            order by coalesce(high < 0 and spearman <= -{_WEAK}, false) desc, spearman limit 1),
        heads as (
            select token_type, count(*) as heads, count(spearman) as ranked
            from attention_norm_correlation
            where head is not null and ($layer is null or layer = $layer) group by token_type)
        select level as sentence, if($head is null, level, 'of_head') as name, token_type,
            spearman as value, low, high, heads, ranked, $layer as layer, $head as head
        from numbers join heads using (token_type)
        where token_type = (from most) and (level = coalesce($level, '{POOLED}')
            or (level <> '{POOLED}' and $head is null))
        order by level <> coalesce($level, '{POOLED}'),
            list_position({[*OF_PAIRS]}, level)""",
        format="+.2f",
        level=0.0,
        least=_WEAK,
    ),
)

_STRETCH = """
    select layer, head, max(value) as largest, min(value) as smallest,
        largest / nullif(smallest, 0) as ratio,
        max(linear_value) / nullif(min(linear_value), 0) as linear_ratio
    from singular_value group by layer, head order by layer, head"""
_STATISTICS = dict.fromkeys(("cv", "mean", "std", "max", "min"), "%.2f")
_STRETCHES = dict.fromkeys(("largest", "smallest"), "%.2f") | dict.fromkeys(
    ("ratio", "linear_ratio"), "%.1f"
)


def spectra(inquiry: Inquiry, _: Choices) -> list[str]:
    """Heads with singular values, as LAYER-HEAD."""
    heads = rows_of(_STRETCH, inquiry, {})[["layer", "head"]].to_numpy()
    return [f"{layer}-{head}" for layer, head in heads]


def first_heads(heads: Sequence[str]) -> list[str]:
    """First head of every layer, of heads in order."""
    firsts = {place.split("-")[0]: place for place in reversed(heads)}
    return [*reversed(firsts.values())][:_MOST_SPECTRA]


def printed_norms(inquiry: Inquiry, _: Choices) -> pd.DataFrame:
    """Tables 1 and 2: statistics of ‖f(x)‖ and of ‖x‖ in heads and layers, and of all together."""

    def name(number: Any, symbol: str, keys: Sequence[str]) -> str:
        place = {key: getattr(number, key) for key in keys}
        whole = number.layer is None
        where = say_here(f"all_{keys[-1]}s") if whole else say(f"published.{keys[-1]}", **place)
        return say("list.comma").join([symbol, where])

    tables = (
        ("value_norm", "‖f(x)‖", "layer nulls last, head", ("layer", "head")),
        ("input_norm", "‖x‖", "layer nulls last", ("layer",)),
    )
    return pd.concat(
        printed(
            quantity,
            rows_of(f"from {quantity}_dispersion order by {order}", inquiry, {}),
            keys,
            partial(name, symbol=symbol, keys=keys),
        )
        for quantity, symbol, order, keys in tables
    )


TRANSFORMATION = Section(
    "transformation",
    (norms.VALUE_NORM_DISPERSION, norms.INPUT_NORM_DISPERSION),
    also=(norms.SINGULAR_VALUE,),
    picks=(
        ONE_HEAD,
        Pick(
            "heads",
            spectra,
            lambda inquiry, choices: first_heads(spectra(inquiry, choices)),
            kind="many",
            format=lambda place: short_name(*map(int, place.split("-"))),
            most=_MOST_SPECTRA,
        ),
        Pick("spectrum", ("linear", "log")),
    ),
    figures=(
        Figure(
            "layers",
            """
            select layer, 'values' as of, avg(cv) as cv, min(cv) as min, max(cv) as max
            from value_norm_dispersion where layer is not null and cv is not null group by layer
            union all
            select layer, 'inputs', cv, cv, cv from input_norm_dispersion
            where layer is not null and cv is not null order by of desc, layer""",
            Lines(value="cv", colour="of", ends=("min", "max"), format=".2f"),
            half=True,
        ),
        Figure(
            "singular_values",
            """
            select layer, head, rank, value, min(value) over of_rank as min,
                max(value) over of_rank as max, layer = $layer and head = $head as is_chosen
            from singular_value where value > 0 or $spectrum = 'linear'
            window of_rank as (partition by rank)
            qualify is_chosen or list_contains($heads, concat(layer, '-', head))
            order by layer, head, rank""",
            Custom(value="value", chart=singular_values, marks=("layer", "head", "rank")),
            half=True,
        ),
        Figure(
            "map",
            """
            select layer, head, cv, mean, std, n from value_norm_dispersion
            where layer is not null order by layer, head""",
            HeadMap(value="cv", format=".2f"),
            click=HEAD,
            half=True,
        ),
        Figure(
            "ratio",
            f"from ({_STRETCH}) where ratio is not null",
            HeadMap(value="ratio", format=".1f", low=1.0, more=("largest", "smallest")),
            click=HEAD,
            half=True,
        ),
        Figure(
            "all",
            f"""
            from value_norm_dispersion left join ({_STRETCH}) using (layer, head)
            order by layer is not null, cv desc""",
            Table(columns={"layer": None, "head": None, **_STATISTICS, **_STRETCHES, "n": None}),
        ),
        Figure(
            "inputs",
            "from input_norm_dispersion order by layer nulls first",
            Table(columns={"layer": None, **_STATISTICS, "n": None}),
        ),
        Figure("norms", printed_norms, Published()),
    ),
    finding=Finding(
        f"""
        with heads as (
            select heads.cv, inputs.cv as input from value_norm_dispersion as heads
            join input_norm_dispersion as inputs using (layer)
            where heads.cv is not null and inputs.cv is not null),
        stretches as (select median(ratio) as median, min(ratio) as least from ({_STRETCH}))
        select 1 as sentence, 'values' as name, avg(cv) as value from heads having count(*) > 0
        union all by name
        select 1 as sentence, 'inputs' as name, avg(input) as value from heads having count(*) > 0
        union all by name
        select 2 as sentence, 'above' as name, count(*) filter (cv > input) as n, count(*) as heads
        from heads having count(*) > 0
        union all by name
        select 3 as sentence, 'stretch' as name, round(least, 1) as least,
            round(median, 1) as median
        from stretches where least is not null""",
        format=".2f",
    ),
    lacks=by_gates,
)


def correlations(source: str) -> Figure:
    """Bars of ρ with the frequencies of a source, with and without special tokens."""
    return Figure(
        f"question_{source}",
        f"""
        select source, quantity, if(special_tokens, 'with', 'without') as special, n,
            {at_level(OF_TOKENS, "$level")}
        from frequency_correlation
        where source = '{source}' and spearman is not null
        qualify not special_tokens or n > min(n) over (partition by quantity)
        order by quantity, special desc""",
        Bars(value="spearman", x="quantity", colour="special", format="+.2f"),
        captions=lambda _, choices: (f"caption_{choices['level']}", "caption"),
    )


FREQUENCY = Section(
    "frequency",
    (norms.FREQUENCY_CORRELATION,),
    picks=(Pick("level", (*OF_TOKENS, POOLED), format=title),),
    figures=(
        correlations("file"),
        correlations("corpus"),
        Figure(
            "table",
            """
            select *, if(special_tokens, 'with', 'without') as special
            from frequency_correlation
            qualify not special_tokens or n > min(n) over (partition by source, quantity)
            order by source desc, quantity, special""",
            Table(columns=_FREQUENCY_COLUMNS, named=("source", "quantity", "special")),
        ),
    ),
    finding=Finding(
        f"""
        select quantity as sentence, quantity as name, {OF_TOKENS[0]}_spearman as value,
            {OF_TOKENS[0]}_spearman_low as low, {OF_TOKENS[0]}_spearman_high as high
        from frequency_correlation
        where not special_tokens and {OF_TOKENS[0]}_spearman is not null
        qualify row_number() over (partition by quantity order by source desc) = 1
        order by quantity desc""",
        format="+.2f",
        level=0.0,
        least=_WEAK,
    ),
    lacks=by_gates,
    links=("layer_mixing/frequency",),
)

PAGE = Page(
    "norms",
    "an",
    (LAYERS, HEADS, RELATION, TRANSFORMATION, FREQUENCY),
    moved={"dispersion": "transformation", "spectra": "transformation"},
)

if __name__ == "__main__":
    PAGE.show()
