"""Page on attention sinks and their causes (Xiao 2024, Gu 2025, Sun 2024)."""

from collections.abc import Callable

import pandas as pd

from analysis.effects import FILLINGS, ZERO
from analysis.sinks import NO_TOKEN, THRESHOLDS, USUAL_THRESHOLD
from analysis.statistics import sinks
from analysis.statistics.heads.single_heads import HEAD_EFFECT, SEQUENCE_HEAD_EFFECT
from pages.charts import colours
from pages.charts.maps import HeadMap
from pages.charts.plots import Bars, Lines, Rows
from pages.kit.head_choice import Head, head_with_most
from pages.kit.page import Page
from pages.kit.section import HEAD, Choices, Figure, Finding, Options, Pick, Section, rows_of
from pages.kit.section import Rows as Asked
from pages.services.inquiry import Inquiry
from pages.sinks.places import places, usual_place
from pages.words.numbers import percent

NOWHERE = NO_TOKEN[0]
COMPARED = colours.SINK_COLOURS
BOTH = {quantity: COMPARED[quantity] for quantity in ("attention", "norm_share")}
OF_NO_TOKEN = dict(zip((NOWHERE, "first", "early", "late"), colours.SERIES_COLOURS, strict=False))
TOKENS = {"place": tuple(place for place in colours.PLACE_COLOURS if place != NOWHERE)}


def and_no_token(inquiry: Inquiry, _: Choices) -> list[str]:
    """Places, and no token where heads have sink logits."""
    return [*places(inquiry), *[NOWHERE] * inquiry.store.holds(sinks.NO_TOKEN)]


def place(options: Options) -> Pick:
    return Pick("place", options, default=usual_place, kind="select")


def either(of_tokens: str, of_no_token: str) -> Asked:
    """Rows of the query for tokens, or of that for no token."""
    return lambda inquiry, choices: rows_of(
        of_no_token if choices["place"] == NOWHERE else of_tokens, inquiry, choices
    )


def most(rows: Asked) -> Callable[[Inquiry, Choices], Head]:
    """Head with the largest mean."""
    return lambda inquiry, choices: head_with_most(rows_of(rows, inquiry, choices), "mean")


def with_dots(frame: pd.DataFrame, _: Choices) -> list[str]:
    """Caption of a map, which explains dots if there are any."""
    has_dots = not frame[frame.columns[-1]].all()
    return ["map_caption", *["map_dots"] * has_dots]


def of_places(quantity: str) -> str:
    """SQL for a quantity of all places by layer, but those that add nothing.

    Left out are `other`, which holds most tokens, and one of two places that are always the same
    token: the first of all, or the first without a special type.
    """
    return f"""
        select layer, place, quantity, mean, low, high, n_sequences from sink
        where head is null and quantity = '{quantity}' and place not in ('other', if(exists(
            from sink where place in ('bos', 'cls')), 'first', 'first_content'))
        order by layer, place"""


def all_places(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Attention to all places by layer, and to no token where heads have sink logits."""
    nowhere = f"""
        union all select layer, quantity, 'attention', mean, low, high, n_sequences
        from no_token where head is null and quantity = '{NOWHERE}'"""
    has_sinks = inquiry.store.holds(sinks.NO_TOKEN)
    return rows_of(f"({of_places('attention')}) {nowhere if has_sinks else ''}", inquiry, choices)


def over_layers(rows: str, said: str, most: str) -> str:
    """SQL for the means of quantities over layers, and for the layer with most of one.

    Args:
        said: number of the sentence, name and quantity of each.
    """
    return f"""
        with rows as (from {rows} and head is null)
        select sentence, name, $place as place, null::int as layer, avg(mean) as value,
            avg(low) as low, avg(high) as high
        from rows join (values {said}) as said(sentence, name, quantity) using (quantity)
        group by sentence, name
        union all
        (select 3, 'peak', $place, layer, mean, low, high
        from rows where quantity = '{most}' order by mean desc, layer limit 1)
        order by sentence, name <> '{most}', name"""


LAYERS = Section(
    "layers",
    (sinks.SINK,),
    also=(sinks.NO_TOKEN, sinks.SEQUENCE_NO_TOKEN),
    picks=(place(and_no_token),),
    figures=(
        Figure(
            "weights",
            either(
                """
                select layer, place, quantity, mean, low, high, n_sequences from sink
                where head is null and place = $place
                    and quantity in ('attention', 'norm_share', 'neighbour', 'even')
                order by layer, quantity""",
                """
                select layer, $place as place, quantity, mean, low, high, n_sequences
                from no_token where head is null order by layer, quantity""",
            ),
            Lines(
                colour="quantity",
                colours=COMPARED | OF_NO_TOKEN,
                dashed=("neighbour", "even", "early", "late"),
                format=".1%",
            ),
        ),
        Figure(
            "places_attention",
            all_places,
            Lines(colour="place", columns=2, format=".1%"),
            half=True,
        ),
        Figure(
            "places_relative_norm",
            of_places("relative_norm"),
            Lines(colour="place", columns=2, level=1.0, format=".2f"),
            half=True,
        ),
    ),
    finding=Finding(
        either(
            over_layers(
                "sink where place = $place",
                """
                (1, 'attention', 'attention'), (1, 'even', 'even'), (1, 'neighbour', 'neighbour'),
                (2, 'norm_share', 'norm_share'), (2, 'weight', 'attention')""",
                "attention",
            ),
            over_layers(
                "no_token where true",
                """
                (1, 'no_token', 'no_token'), (1, 'even', 'even'), (1, 'first', 'first'),
                (2, 'early', 'early'), (2, 'late', 'late')""",
                NOWHERE,
            ),
        ),
        least=0.01,
    ),
)

OF_HEADS = either(
    """
    select layer, head, quantity, mean, low, high, mean <= $threshold as below from sink
    where head is not null and place = $place and quantity = $quantity order by layer, head""",
    """
    select layer, head, quantity, mean, low, high, mean <= $threshold as below from no_token
    where head is not null and quantity = $place order by layer, head""",
)
COUNT = """
    select 3 as sentence, 'count' as name, $place as place,
        format('{:.0f}%', 100 * $threshold) as threshold, count(*) as of,
        count(*) filter (mean > $threshold) as n
    from """

HEADS = Section(
    "heads",
    (sinks.SINK, sinks.SINK_RATE),
    also=(sinks.SEQUENCE_SINK, sinks.NO_TOKEN, sinks.SEQUENCE_NO_TOKEN),
    picks=(
        place(and_no_token),
        Pick("quantity", tuple(BOTH), when=TOKENS),
        Pick("threshold", THRESHOLDS, default=USUAL_THRESHOLD, format=percent, kind="select"),
        Pick("head", kind="head", default=most(OF_HEADS)),
    ),
    figures=(
        Figure(
            "map", OF_HEADS, HeadMap(clear="below", format=".1%"), click=HEAD, captions=with_dots
        ),
        Figure(
            "rates",
            """
            select layer, quantity, mean, low, high, n_sequences from sink_rate
            where place = $place and abs(threshold - $threshold) < 1e-6 and layer is not null
                and quantity in ('attention', 'norm_share')
            order by layer, quantity""",
            Bars(colour="quantity", colours=BOTH, domain=(0, 1), format=".1%"),
            when=TOKENS,
            half=True,
        ),
        Figure(
            "thresholds",
            """
            select quantity, threshold, mean, low, high from sink_rate
            where place = $place and layer is null order by quantity, threshold""",
            Lines(
                x="threshold",
                x_format="%",
                colour="quantity",
                colours=COMPARED,
                dashed=("neighbour", "even"),
                columns=2,
                format=".1%",
            ),
            when=TOKENS,
            half=True,
        ),
    ),
    finding=Finding(
        either(
            f"""
            with rates as (
                from sink_rate where place = $place and abs(threshold - $threshold) < 1e-6)
            select * replace (max(threshold) over () as threshold) from (
                select 1 as sentence, quantity || if(quantity = $quantity, '_rate', '') as name,
                    place, layer, mean as value, low, high
                from rates where layer is null and quantity in if($quantity = 'attention',
                    ['attention', 'neighbour', 'even'], ['norm_share', 'attention'])
                union all
                (select 2, 'peak', place, layer, mean, low, high
                from rates where layer is not null and quantity = $quantity and mean > 0
                order by mean desc, layer limit 1)
                union all by name
                {COUNT} sink where head is not null and place = $place and quantity = $quantity)
            order by sentence, name not like '%_rate', name""",
            f"{COUNT} no_token where head is not null and quantity = $place",
        ),
        least=0.01,
        overview=(),
    ),
)

OF_TYPES = """
    from head_effect where filling = $filling and quantity = $quantity and token_type is not null"""
NOTHING = Section(
    "nothing",
    (HEAD_EFFECT,),
    also=(SEQUENCE_HEAD_EFFECT,),
    picks=(
        Pick("quantity", ("length", "cosine_distance")),
        Pick("filling", FILLINGS, default=ZERO),
    ),
    figures=(
        Figure(
            "layers",
            f"""
            select layer, token_type, mean, low, high, n_sequences {OF_TYPES}
                and layer is not null order by layer, token_type""",
            Lines(colour="token_type", format=".1%"),
            half=True,
        ),
        Figure(
            "at_once",
            f"""
            select token_type, mean, low, high, n_sequences {OF_TYPES}
                and layer is null order by mean desc, token_type""",
            Rows(y="token_type", more=("n_sequences",), format=".1%"),
            half=True,
        ),
    ),
    finding=Finding(
        f"""
        with changes as (
            select layer, token_type, mean as value, low, high,
                row_number() over (partition by layer is null order by mean desc) as rank
            {OF_TYPES})
        select if(layer is null, 1, 2) as sentence, case when layer is not null then 'peak'
            when rank = 1 then 'type_' || $filling else 'type' end as name, * exclude rank
        from changes where layer is null or rank = 1 order by sentence, rank""",
        least=0.01,
        overview=(),
    ),
)

OF_PARTS = """
    select layer, head, quantity, mean, low, high,
        not coalesce(low <= 0 and high >= 0, false) as clear
    from sink_score
    where head is not null and place = $place and quantity = $part order by layer, head"""


def parts(inquiry: Inquiry, _: Choices) -> list[str]:
    """The excess and its parts that the file has."""
    found = set(rows_of("select distinct quantity from sink_score", inquiry, {})["quantity"])
    return [name for name in colours.EXCESS_PART_COLOURS if name in found]


SCORES = Section(
    "scores",
    (sinks.SINK_SCORE, sinks.SINK),
    also=(sinks.SEQUENCE_SINK_SCORE,),
    picks=(place(places),),
    figures=(
        Figure(
            "parts",
            """
            select layer, quantity, mean, low, high, n_sequences from sink_score
            where head is null and place = $place order by layer, quantity""",
            Lines(
                colour="quantity",
                colours=colours.EXCESS_PART_COLOURS,
                dashed=("query_bias",),
                level=0.0,
                format=".2f",
            ),
        ),
        Figure(
            "map",
            OF_PARTS,
            HeadMap(is_signed=True, clear="clear", format=".2f"),
            click=HEAD,
            captions=with_dots,
            picks=(
                Pick("part", parts, of="quantity"),
                Pick("head", kind="head", default=most(OF_PARTS)),
            ),
        ),
    ),
    finding=Finding(
        """
        with rows as (
            select *, mean as value from sink_score where head is null and place = $place),
        there as (
            from rows where layer = (
                select layer from rows where quantity = 'excess' order by mean desc limit 1))
        select 1 as sentence, quantity as name, * from there where quantity = 'excess'
        union all
        (select 2, 'part_' || quantity, * from there
        where quantity in ('norm', 'direction', 'bias') order by abs(mean) desc limit 1)
        union all
        select 3, quantity, * from there where quantity = 'query_bias'
        order by sentence""",
        format=".2f",
        level=0.0,
        overview=(),
    ),
)

PAGE = Page(
    "sinks",
    "si",
    (LAYERS, HEADS, NOTHING, SCORES),
    moved={"activations": "scores", "no_token": "layers"},
)

if __name__ == "__main__":
    PAGE.show()
