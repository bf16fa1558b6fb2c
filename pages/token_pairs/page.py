"""Page on token pairs whose mixing a layer's modules change most (Kobayashi et al. 2024)."""

from functools import partial
from typing import Any

import pandas as pd

from analysis.published.numbers import MODEL
from analysis.scopes import EFFECTS, RELATIONS
from analysis.statistics.corpus import least_count
from analysis.statistics.pairs.changes import PAIR as PAIRS
from analysis.statistics.pairs.changes import PAIR_DELTA, PAIR_OCCURRENCE
from analysis.statistics.pairs.relations import (
    PAIR_PMI_CORRELATION,
    PMI_MIN_COUNTS,
    QUANTITIES,
    WINDOWS,
)
from analysis.statistics.question import placed
from pages.charts.colours import SERIES_COLOURS
from pages.charts.plots import Lines, Points, Stacks
from pages.kit.kinds import Custom, Drawn, Table
from pages.kit.page import Page
from pages.kit.published_table import experiment, source_sentence
from pages.kit.section import Choices, Figure, Finding, Pick, Section, rows_of
from pages.kit.view import View
from pages.services.inquiry import Inquiry
from pages.token_pairs import charts, lists
from pages.token_pairs import pair as chosen
from pages.token_pairs.lists import CHANGE, DIRECTIONS, PAIR, tally, top_pairs
from pages.token_pairs.ranking import RANKS
from pages.words.say import say

_MOST_LEAST, _DRAWN, _EXTREMES = 10_000, 1_500, 10
_PAPER, _NETWORK = "kobayashi-2024", "ff"
_TO_PAIR: dict[str, Any] = {"click": {side: side for side in PAIR}, "clicked": {"page": 1}}
_WINDOWS = {str(size or "sequence"): size for size in reversed(WINDOWS)}


def least_counts(inquiry: Inquiry, _: Choices) -> list[int]:
    least = least_count(inquiry.store.facts)
    return [least, max(_MOST_LEAST, least)]


LAYER = Pick("layer", lambda inquiry, _: inquiry.store.layers, kind="select")
EFFECT = Pick("effect", lambda of, _: [*of.store.layer_order.effects], _NETWORK, kind="select")
LEAST = Pick("least", least_counts, lambda *of: max(2, least_counts(*of)[0]), kind="number")
SPECIAL = Pick("special", ("in", "out"))
OF_SENTENCES = (
    Pick("page", chosen.pages_of, 1, kind="number"),
    Pick("live", ("stored", "live"), kind="select"),
)

WORKBENCH = Section(
    "workbench",
    (PAIR_DELTA, PAIRS, PAIR_OCCURRENCE),
    picks=(
        LAYER,
        EFFECT,
        Pick("direction", (*DIRECTIONS, "both"), kind="select"),
        LEAST,
        Pick("rank", RANKS, is_rare=True),
        Pick("clear", ("all", "only"), is_rare=True),
        SPECIAL,
        Pick("relation", ("all", *RELATIONS), kind="select", is_rare=True),
        *(
            Pick(name, kind="text", of="text", is_rare=True)
            for name in ("source_text", "target_text", "text")
        ),
        Pick("list_page", lists.pages_of, 1, kind="number"),
    ),
    figures=(
        Figure("pairs", lists.page_of, Custom(chart=charts.pair_rows), half=True, **_TO_PAIR),
        Figure(
            "pair",
            chosen.chosen,
            Drawn(record=chosen.show),
            picks=tuple(
                Pick(side, kind="text", of="token", default=partial(chosen.first_of, side))
                for side in PAIR
            ),
            half=True,
        ),
        Figure("pairs_table", lists.listed, Table(columns=lists.COLUMNS), half=True, **_TO_PAIR),
        Figure(
            "layers",
            chosen.by_layer,
            Lines(colour="effect", level=0.0, columns=1, format="+.2f", **lists.OF_CHANGE),
            picks=(Pick("steps", ("one", "all")),),
            half=True,
            captions=lambda frame, _: (
                ["layers_caption", *(["layers_outside"] if frame[CHANGE].isna().any() else [])]
            ),
        ),
        Figure("sentences", chosen.on_page, Drawn(record=chosen.texts), picks=OF_SENTENCES),
    ),
    finding=Finding(
        lambda inquiry, choices: tally(inquiry, choices, [choices["layer"]]), overview=()
    ),
)


def relations(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Share of every relation among each layer's lists.listed pairs, by direction."""
    frame = top_pairs(inquiry, choices)
    counted = frame.groupby(["direction", "layer", "relation"]).size().reset_index(name="pairs")
    total = counted.groupby(["direction", "layer"])["pairs"].transform("sum")
    return counted.assign(share=counted["pairs"] / total)


def printed(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the paper's tables 3 and 4, with those pairs strong that the file lists as well."""
    with experiment(view, _PAPER, say("published.title_pairs")):
        for direction, part in frame.groupby("direction"):
            name, part = f"published_{direction}", part.reset_index(drop=True)
            found = view.say("pairs_found", n=int(part["in_both"].sum()), of=len(part))
            source = source_sentence([lists.PRINTED[str(direction)][1]], _PAPER)
            caption = f"{found} {view.say('published_caption')} {source}"
            view.figure(name, part, charts.grid(part, name, choices), caption=caption, model=MODEL)


TABLES = Section(
    "tables",
    (PAIR_DELTA, PAIRS),
    picks=(EFFECT, Pick("ranking", RANKS[::-1]), LEAST, Pick("clear", ("all", "only")), SPECIAL),
    figures=(
        *(
            Figure(
                direction,
                partial(lists.in_direction, direction),
                Custom(chart=charts.grid),
                click={"layer": "layer", **_TO_PAIR["click"]},
                clicked={"view": "workbench", "direction": direction, **_TO_PAIR["clicked"]},
                captions=lambda _, choices: ("grid_caption", f"order_{choices['ranking']}"),
            )
            for direction in DIRECTIONS
        ),
        Figure(
            "relations",
            relations,
            Stacks(
                value="share",
                colour="relation",
                side="direction",
                sides=dict(zip(DIRECTIONS, (0.45, 1.0), strict=True)),
                more=("pairs",),
                format=".0%",
            ),
        ),
        Figure("published", lists.compared, Drawn(record=printed), when={"effect": (_NETWORK,)}),
    ),
    finding=Finding(lists.main_relations, overview=()),
)


def min_counts(inquiry: Inquiry, _: Choices) -> list[int]:
    least = least_count(inquiry.store.facts)
    counts = PMI_MIN_COUNTS
    return [number for number in counts if number >= least] or [*counts[-1:]]


def points(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Single pairs, whose changes the file keeps over whole sequences alone."""
    if choices["pmi_window"] != "sequence":
        return pd.DataFrame()
    found = rows_of(_POINTS.format(effect=choices["effect"]), inquiry, choices)
    relations = found["relation"].map(dict(enumerate(RELATIONS)))
    return lists.with_pair_names(found.assign(relation=relations))


_POINTS = f"""
    with there as materialized (
        select source, target, of_layer.n, of_layer.relation, pmi, mean_{{effect}} as mean
        from pair_delta_wide as of_layer join pair using (source, target)
        where layer = $layer and pair.n >= $pmi_least and not has_special
            and of_layer.n >= least($pmi_least, {min(PMI_MIN_COUNTS)})),
    drawn as (
        (from there order by hash(source, target), source, target limit {_DRAWN})
        union (from there order by mean desc, source, target limit {_EXTREMES})
        union (from there order by mean, source, target limit {_EXTREMES}))
    select s.token as source, t.token as target, drawn.n, pmi::double as pmi,
        mean::double as mean_delta, relation
    from drawn
    join vocabulary as s on s.token_id = drawn.source
    join vocabulary as t on t.token_id = drawn.target
    order by drawn.source, drawn.target"""
"""A sample of the correlated pairs, the same every time, and those that change most."""
_CORRELATED = """pair_pmi_correlation where min_count = $pmi_least and spearman is not null
    and window_size is not distinct from try_cast($pmi_window as int)"""


def correlations(name: str, colour: str, condition: str, **more: Any) -> Figure:
    """Lines of ρ over the layers."""
    return Figure(
        name,
        f"""
        select layer, effect, quantity, n_pairs, n_words, spearman, low, high
        from {_CORRELATED} and {condition}
        order by layer, {placed(EFFECTS, "effect")},
            {placed(QUANTITIES, "quantity")}""",
        Lines(value="spearman", colour=colour, level=0.0, height=380, **more),
    )


PMI = Section(
    "pmi",
    (PAIR_PMI_CORRELATION, PAIRS, PAIR_DELTA),
    picks=(EFFECT, Pick("pmi_window", [*_WINDOWS]), Pick("pmi_least", min_counts, of="least")),
    figures=(
        correlations(
            "compared",
            "quantity",
            "effect = $effect",
            colours=dict(zip(QUANTITIES, SERIES_COLOURS, strict=False)),
        ),
        correlations("layers", "effect", "quantity = 'partial'"),
        Figure(
            "pmi_points",
            points,
            Points(
                **lists.OF_CHANGE,
                x="pmi",
                x_scale="linear",
                marks=PAIR,
                more=("pair", "n", "relation"),
                colour="relation",
                level=0.0,
                is_clicked=True,
                size=34,
                format="+.2f",
                height=420,
            ),
            picks=(LAYER,),
            click=_TO_PAIR["click"],
            clicked={"view": "workbench", **_TO_PAIR["clicked"]},
        ),
    ),
    finding=Finding(
        f"""
        with rows as (
            from {_CORRELATED} and effect = $effect and quantity = 'partial'),
        ends as (
            from rows qualify row_number() over (order by spearman) = 1
                or row_number() over (order by spearman desc) = 1)
        select layer as sentence, 'partial' as name, spearman as value, low, high, layer, effect
        from ends
        union all by name
        select 0 as sentence, 'layers' as name, count(*) filter (low > 0) as above,
            count(*) filter (high < 0) as below, count(low) as of
        from rows having count(low) > 0
        order by sentence = 0, value desc""",
        format="+.2f",
        level=0.0,
        overview=(),
    ),
)

PAGE = Page(
    "token_pairs",
    "tp",
    (WORKBENCH, TABLES, PMI),
    moved={"layer": "workbench", "browse": "workbench", "pair": "workbench"},
)

if __name__ == "__main__":
    PAGE.show()
