"""Page on heads of one model that attend alike (Clark et al. 2019)."""

from functools import partial

import numpy as np
import pandas as pd

from analysis.published.heads import THRESHOLDS
from analysis.statistics.base.tables import Table as OfFile
from analysis.statistics.heads.head_distances import (
    HEAD_DISTANCE,
    HEAD_LAYOUT,
    HEAD_LINKAGE,
    LAYER_COHESION,
)
from analysis.statistics.heads.single_heads import HEAD_EFFECT, HEAD_PATTERN
from pages.charts.colours import GROUP_COLOURS, SAME_LAYER_COLOURS
from pages.charts.plots import Lines
from pages.head_map.plane import plane
from pages.head_map.tree import dendrogram, group_name, groups_plane, tree_parts
from pages.kit.behaviours import behaviour_name, behaviours_of_heads, has_habits, looks
from pages.kit.head_choice import Head, head_with_most
from pages.kit.kinds import Custom, Drawn, Table
from pages.kit.page import Page
from pages.kit.section import (
    HEAD,
    Choices,
    Figure,
    Finding,
    Pick,
    Rows,
    Section,
    once,
    one_row,
    rows_of,
)
from pages.kit.view import View
from pages.services.inquiry import Inquiry
from pages.services.missing import absence
from pages.words.say import say

_LEVEL = 0.05  # significance level of p-values
_SHARES = tuple(f"{share:.2f}" for share in np.arange(0.1, 0.96, 0.05))
_NATS = tuple(f"{nats:.1f}" for nats in np.arange(0.5, 6.01, 0.1))
_SIDES = ("within", "between")
_PLANE = "from head_layout_weighing where weighing = $weighing order by layer, head"
_STEPS = "from head_linkage_weighing where weighing = $weighing order by step"
_HEADS = "select distinct layer_a as layer, head_a as head from head_distance_mean order by all"
_PAIRS = """(
    select layer_a, head_a, layer_b, head_b, mean_divergence from head_distance_weighing
    where weighing = $weighing and (layer_a, head_a) < (layer_b, head_b))"""


def most_unlike(inquiry: Inquiry, _: Choices) -> Head:
    """Head with the largest mean distance from all others."""
    rows = """
        select layer_a as layer, head_a as head, avg(mean_divergence) as mean
        from head_distance_mean group by all order by all"""
    return head_with_most(rows_of(rows, inquiry, {}), "mean")


def behaviours(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Points of heads with what they mostly do, by the reader's thresholds."""
    thresholds = {name: float(choices[name]) for name in THRESHOLDS}
    habits = behaviours_of_heads(inquiry, thresholds, weighing=choices["weighing"])
    return rows_of(_PLANE, inquiry, choices).merge(habits, on=["layer", "head"])


def held(table: OfFile, rows: Rows) -> Rows:
    """Rows, or none where the file lacks a table."""
    return lambda inquiry, choices: (
        rows_of(rows, inquiry, choices) if inquiry.store.holds(table) else pd.DataFrame()
    )


def offered(table: OfFile) -> Figure:
    """Figure of the command that adds a table, where the file lacks it."""

    def offer(view: View, *_: object) -> None:
        for item in absence(view.store, table):
            view.add(item)

    return Figure(f"no_{table.name}", one_row, Drawn(record=offer))


PICKS = (Pick("weighing", kind="weighing"), Pick("head", kind="head", default=most_unlike))
MAP = Section(
    "map",
    (HEAD_LAYOUT, HEAD_DISTANCE),
    also=(HEAD_PATTERN, HEAD_EFFECT),
    picks=(*PICKS, Pick("colour", ("layer", "change"))),
    figures=(
        Figure(
            "by_layer",
            _PLANE,
            Custom(chart=plane),
            when={"colour": ("layer",)},
            click=HEAD,
            half=True,
        ),
        Figure(
            "by_effect",
            held(
                HEAD_EFFECT,
                f"""
                select points.*, mean as change from ({_PLANE}) as points
                join head_effect using (layer, head)
                where filling = 'mean' and quantity = 'length' and token_type is null""",
            ),
            Custom(chart=partial(plane, value="change")),
            when={"colour": ("change",)},
            click=HEAD,
            half=True,
        ),
        Figure(
            "by_behaviour",
            held(HEAD_PATTERN, behaviours),
            Custom(chart=lambda *drawn: plane(*drawn, **looks())),
            picks=(
                Pick("neighbour", _SHARES, "0.50", "slider"),
                Pick("entropy", _NATS, "3.8", "slider"),
                Pick("token_type", _SHARES, "0.60", "slider", format=str),
            ),
            click=HEAD,
            half=True,
        ),
        *map(offered, (HEAD_PATTERN, HEAD_EFFECT)),
    ),
    finding=Finding(
        f"""
        with stress as (
            select any_value(stress) as stress from head_layout_weighing
            where weighing = $weighing),
        pairs as (
            select *, concat('L', layer_a, '·H', head_a) as one,
                concat('L', layer_b, '·H', head_b) as other,
                row_number() over (order by mean_divergence) as place
            from {_PAIRS})
        select 1 as sentence, if(place = 1, 'near', 'far') as name, one, other,
            mean_divergence as value, null as low, null as high, place > 1 as beside
        from pairs where place in (1, (select count(*) from pairs))
        union all
        select 2, unnest(['stress', 'fair']), null, null, unnest([stress, 0.1]),
            unnest([stress, 0.1]), unnest([stress, 0.1]), false
        from stress where stress is not null
        order by sentence, name in ('far', 'fair')""",
        format=".2f",
        overview=(),
    ),
)


@once("weighing", "k")
def parts(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Leaves, branches and cut of the tree."""
    k = choices["k"]
    steps, heads = (rows_of(rows, inquiry, choices) for rows in (_STEPS, _HEADS))
    frame = tree_parts(steps, heads, k)
    names = {group: group_name(group) for group in range(1, k + 1)}
    whole = dict.fromkeys(("layer", "head", "place", "group"), "Int64")
    return frame.astype(whole).assign(name=frame["group"].map(names))


@once("weighing", "k")
def leaves(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Heads in the order of the tree, with their groups."""
    heads = parts(inquiry, choices).dropna(subset="layer").sort_values("place")
    heads = heads[["layer", "head", "place", "group", "label", "name"]]
    return heads.astype(dict.fromkeys(("layer", "head", "place", "group"), int))


def points(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Points of heads with their groups."""
    return rows_of(_PLANE, inquiry, choices).merge(leaves(inquiry, choices), on=["layer", "head"])


@once("weighing", "k")
def distances(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Distance of any two heads, the group of one, and whether the other is of the same."""
    frame, heads = rows_of(f"from {_PAIRS}", inquiry, choices), leaves(inquiry, choices)
    group = dict(zip(zip(heads["layer"], heads["head"], strict=True), heads["group"], strict=True))
    one, other = (
        np.array([group[at] for at in zip(frame[f"layer_{of}"], frame[f"head_{of}"], strict=True)])
        for of in "ab"
    )
    return frame.assign(group=one, is_same=one == other)


def groups(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Size, mean distance within, layers, most frequent habit and heads of every group."""
    heads, comma = leaves(inquiry, choices), say("list.comma")
    frame = distances(inquiry, choices)
    within = frame[frame["is_same"]].groupby("group")["mean_divergence"].mean()
    if has_habits(inquiry.store):
        habits = behaviours_of_heads(inquiry, weighing=choices["weighing"])
        heads = heads.merge(habits[["layer", "head", "behaviour"]], on=["layer", "head"])
    of_groups = heads.groupby("group")
    columns = {
        "n": of_groups.size(),
        "within": within,
        "layers": of_groups["layer"].agg(lambda of: comma.join(map(str, sorted(of.unique())))),
        "heads": of_groups["label"].agg(comma.join),
    }
    if "behaviour" in heads:
        counts = of_groups["behaviour"].value_counts(normalize=True).groupby("group").head(1)
        counts = counts.reset_index("behaviour")
        columns["mostly"] = counts["behaviour"].map(behaviour_name)
        columns["share"] = counts["proportion"]
    return pd.DataFrame(columns).rename_axis("group").reset_index()


def found_of_groups(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Sizes of the groups, and mean distances within and between them."""
    heads = leaves(inquiry, choices)
    sizes = heads["group"].value_counts()
    means = distances(inquiry, choices).groupby("is_same")["mean_divergence"].mean()
    names = {True: "within", False: "between"}
    rows = [(2, name, means[is_same]) for is_same, name in names.items() if is_same in means]
    frame = pd.DataFrame([(1, "sizes", np.nan), *rows], columns=["sentence", "name", "value"])
    counts = {"n": sizes.iloc[0], "of": sizes.sum(), "alone": int((sizes == 1).sum())}
    return frame.assign(beside=frame["name"] == "between", k=choices["k"], **counts)


def most_groups(inquiry: Inquiry) -> int:
    n_heads = int(inquiry.store.run["n_heads"])
    return min(len(GROUP_COLOURS), len(inquiry.store.layers) * n_heads)


_GROUP = {**dict.fromkeys(("group", "n", "within", "layers", "mostly")), "share": "percent"}
_GROUP |= {"heads": None}
GROUPS = Section(
    "groups",
    (HEAD_LINKAGE, HEAD_DISTANCE),
    picks=(
        PICKS[0],
        Pick(
            "k",
            lambda inquiry, _: (2, most_groups(inquiry)),
            lambda inquiry, _: min(6, most_groups(inquiry)),
            "number",
        ),
        PICKS[1],
    ),
    figures=(
        Figure("tree", parts, Custom(chart=dendrogram), click=HEAD, half=True),
        Figure("plane", points, Custom(chart=groups_plane), click=HEAD, half=True),
        Figure("table", groups, Table(columns=_GROUP)),
    ),
    finding=Finding(found_of_groups, format=".2f", overview=()),
)

LAYERS = Section(
    "layers",
    (LAYER_COHESION,),
    also=(HEAD_DISTANCE,),
    picks=PICKS[:1],
    figures=(
        Figure(
            "chart",
            """
            select *, unnest([within, between]) as mean_divergence,
                unnest(['within', 'between']) as side
            from layer_cohesion_weighing where weighing = $weighing and layer is not null
            order by layer""",
            Lines(
                value="mean_divergence",
                colour="side",
                colours=dict(zip(_SIDES, SAME_LAYER_COLOURS, strict=True)),
            ),
        ),
        Figure(
            "table",
            "from layer_cohesion_weighing where weighing = $weighing order by layer nulls first",
            Table(columns=("layer", *_SIDES, "difference", "p_value", "n_permutations")),
        ),
    ),
    finding=Finding(
        f"""
        with rows as (from layer_cohesion_weighing where weighing = $weighing)
        select 1 as sentence, 'p' as name, p_value as value, p_value as low, p_value as high,
            round(within, 3) as within, round(between, 3) as between,
            null as n, null as of, null as listed
        from rows where layer is null
        union all
        select 2, 'layers', null, null, null, null, null, count(*) filter (p_value < {_LEVEL}),
            count(*), coalesce(string_agg(layer, ', ' order by layer)
                filter (p_value < {_LEVEL}), '–')
        from rows where layer is not null order by sentence""",
        format=".4f",
        level=_LEVEL,
    ),
)

PAGE = Page(
    "head_map",
    "hm",
    (MAP, GROUPS, LAYERS),
    moved={"weighing": "map", "distances": "groups"},
)

if __name__ == "__main__":
    PAGE.show()
