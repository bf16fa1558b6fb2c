"""Rank correlation of attention weight and norm, by token type (figure 3, table 3)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import altair as alt
import pandas as pd

from analysis.published.numbers import numbers
from analysis.statistics.norms import attention_norm_correlation as correlation
from analysis.statistics.norms import attention_norm_distribution
from analysis.statistics.parts import OF_PAIRS, by_part
from pages.norms.opened_head import most_drawn, pick_norms_head
from pages.norms.pair_panels import density_panels, rank_panels, sample_panels, with_edges
from pages.norms.weight_and_norm import WEAK, lowest_within, weight_and_norm
from pages.ui.charts.head_map import head_map
from pages.ui.charts.standard import bars, lines
from pages.ui.choices.picker import choose
from pages.ui.finding import Finding, Findings
from pages.ui.head.choice import to_head
from pages.ui.page import section
from pages.ui.published_table import Row, show_published, statistic_of
from pages.ui.store.absences import APART
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.levels import POOLED, level_names
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import change, count, signed
from pages.ui.words.quantities import in_type_order, ordered_types
from pages.ui.words.say import say

_SAMPLED = 1_500
_WITHIN, _BETWEEN_HEADS, _BETWEEN_LAYERS = OF_PAIRS
_BY_LAYER = {
    _WITHIN: "median",
    _BETWEEN_HEADS: f"{_BETWEEN_HEADS}_spearman",
    POOLED: "spearman",
}
"""Drawn column of a layer, by level."""
Scope = dict[str, int | None]


def _summary(inquiry: Inquiry) -> Findings:
    """Name the type of `APART` with the lowest correlation of weight and norm within heads."""
    frame = inquiry.ask(correlation.by_type, layer=None, head=None)
    frame = frame[frame["token_type"].isin(APART)].dropna(subset="median")
    row = lowest_within(frame)
    if row is None:
        return
    medians = {"median": "value", "median_low": "low", "median_high": "high"}
    others = frame[frame["token_type"] != row["token_type"]]
    evidence = pd.concat([frame.loc[[row.name]], others]).rename(columns=medians)
    yield Finding(
        say("finding.label_relation", token_type=token_type_name(row["token_type"])),
        f"ρ = {change(row['median'])}",
        weight_and_norm(frame, inquiry.ask(correlation.signs, layer=None), OF_PAIRS),
        evidence.assign(name=evidence["token_type"].map(token_type_name))[
            ["name", *medians.values()]
        ],
        baseline=0.0,
        format="+.2f",
    )


@section(
    "relation",
    correlation.TABLE,
    attention_norm_distribution.HISTOGRAM,
    also=(attention_norm_distribution.SAMPLE,),
    findings=_summary,
)
def relation(view: View) -> None:
    level = view.pick("level", level_names(OF_PAIRS))
    scope = _pick_scope(view)
    if scope["head"]:
        level = POOLED  # a head is all within it
    parts = OF_PAIRS[:2] if scope["layer"] else OF_PAIRS
    rho = view.ask(correlation.by_type, **scope)
    view.finding(_finding(view, rho, scope, parts, level))
    _pairs(view, level, scope)
    pairs = in_type_order(rho).rename(columns={"n": "pairs"})
    columns = ["token_type", "pairs", "spearman"]
    columns += [] if scope["head"] else [*parts, "median", "median_low", "median_high"]
    view.table("table", pairs, columns)
    if scope["layer"] is None:
        show_published(view, "rho", *_published(rho))
    if not scope["head"]:
        _parts(view, rho, parts)
    _layers(view, level)
    _map(view, scope)


def _pairs(view: View, level: str, scope: Scope) -> None:
    """Draw the pairs, the pairs within heads, or the mean ranks of heads or layers, by level."""
    layer = scope["layer"]
    if level in (_BETWEEN_HEADS, _BETWEEN_LAYERS):
        return _ranks(view, level, layer)
    marks = view.pick("marks", ["density", "sample"])
    within = level == _WITHIN
    if marks == "sample":
        frame = view.ask(attention_norm_distribution.scatter, limit=_SAMPLED, **scope)
        if within:
            frame = _over_centres(frame, view.ask(attention_norm_distribution.centres, layer=layer))
        chart = sample_panels(frame, within=within)
    else:
        frame = (
            view.ask(attention_norm_distribution.densities_within, layer=layer)
            if within
            else view.ask(attention_norm_distribution.densities, **scope)
        )
        frame = with_edges(frame, within=within)
        chart = density_panels(frame, within=within)
    caption = view.say(f"caption_{marks}")
    if within:
        caption = f"{view.say('caption_within')} {caption}"
    view.figure("pairs", frame, chart, state=(level, marks), caption=caption)


def _over_centres(frame: pd.DataFrame, centres: pd.DataFrame) -> pd.DataFrame:
    """Divide pairs by the geometric mean of their head and token type."""
    frame = frame.merge(centres, on=["layer", "head", "token_type"])
    return frame.assign(
        attention=frame["attention"] / frame["attention_centre"],
        value_norm=frame["value_norm"] / frame["norm_centre"],
    ).drop(columns=["attention_centre", "norm_centre"])


def _ranks(view: View, level: str, layer: int | None) -> None:
    """Draw layers by the mean ranks of their pairs, or heads relative to those of their layer."""
    if level == _BETWEEN_LAYERS and layer is not None:
        return view.nothing("one_layer")
    frame = view.ask(correlation.mean_ranks, layer=layer)
    of_heads = frame["head"].notna()
    ranks = ["attention_rank", "norm_rank"]
    if level == _BETWEEN_LAYERS:
        shown = frame[~of_heads].drop(columns="head")
    else:
        shown = frame[of_heads].astype({"head": "int64"})
        of_layer = shown.groupby(["layer", "token_type"], observed=True)[ranks].transform("mean")
        shown[ranks] -= of_layer
    caption = view.say(f"ranks_caption_{level}")
    view.figure("ranks", shown, rank_panels(shown), state=(level, layer), caption=caption)


def _parts(view: View, rho: pd.DataFrame, parts: tuple[str, ...]) -> None:
    """Draw the contribution of each level to ρ, type by type."""
    known = in_type_order(rho.dropna(subset="spearman"))
    if known.empty:
        return
    frame = by_part(known, parts)[["token_type", "part", "contribution", "spearman"]]
    frame["part"] = frame["part"].map(level_names(parts))
    chart = bars(
        frame,
        x="token_type",
        y="contribution",
        colour="part",
        colour_title=" ",
        order=[token_type_name(kind) for kind in ordered_types(frame["token_type"])],
        tooltip=("spearman",),
        format="+.3f",
    )
    view.figure("parts", frame, chart)


def _layers(view: View, level: str) -> None:
    """Draw ρ of every layer at a level."""
    if level == _BETWEEN_LAYERS:
        return
    number = _BY_LAYER[level]
    frame = view.ask(correlation.by_layer).dropna(subset=number)
    if frame.empty:
        return
    ends = (f"{number}_low", f"{number}_high")
    chart = lines(frame, y=number, colour="token_type", level=0.0, ends=ends)
    caption = view.say(f"layers_caption_{level}")
    view.figure("layers", frame, chart, state=level, caption=caption)


def _pick_scope(view: View) -> Scope:
    """Let the reader pick all heads, the heads of one layer, or one head."""
    layer = head = None
    chosen = view.pick("scope", ["all", "layer", "head"])
    if chosen == "layer":
        layer = view.pick("layer", view.store.layers, default=most_drawn(view)[0], kind="select")
    elif chosen == "head":
        layer, head = pick_norms_head(view)
    return {"layer": layer, "head": head}


def _published(rho: pd.DataFrame) -> list[Row]:
    """Rows of table 3: pairs of each type and their rank correlation, all heads together."""
    ours = rho.set_index("token_type")
    titles = {"n": title("pairs"), "spearman": title("spearman")}
    return [
        Row(
            statistic_of(token_type_name(number.token_type), titles[number.statistic]),
            number,
            ours[number.statistic].get(number.token_type),
        )
        for number in numbers("correlation")
    ]


def _finding(
    view: View, rho: pd.DataFrame, scope: Scope, parts: tuple[str, ...], level: str
) -> str:
    """Compare ρ within heads with the pooled ρ.

    For one head, name the token type with the lowest ρ if that is negative.
    """
    if lowest_within(rho) is None:
        return view.say("nothing_varies")
    if not scope["head"]:
        signs = view.ask(correlation.signs, layer=scope["layer"])
        return weight_and_norm(rho, signs, parts, level)
    lowest = rho.nsmallest(1, "spearman").iloc[0]
    return view.say(
        f"finding_{'against' if lowest['spearman'] < -WEAK else 'nowhere'}",
        type=token_type_name(lowest["token_type"]),
        rho=signed(lowest["spearman"]),
        n=count(lowest["n"]),
    )


def _map(view: View, scope: Scope) -> None:
    """Draw ρ of every head for one type; a click opens the head."""
    types = ordered_types(view.ask(correlation.by_type, layer=None, head=None)["token_type"])
    token_type = view.pick("type", types, of="token_type")
    of_types = {kind: view.ask(correlation.by_head, token_type=kind) for kind in types}
    frame = of_types[token_type]
    if frame["spearman"].isna().all():
        return view.nothing("nothing_varies")
    widest = max(0.1, float(pd.concat(of_types.values())["spearman"].abs().max()))
    layer, head = scope["layer"], scope["head"]
    chart = head_map(
        frame,
        "spearman",
        scale=alt.Scale(scheme="redblue", domain=[-widest, widest]),
        format="+.3f",
        marked=(layer, head) if layer and head else None,
    )
    state, name = (token_type, layer, head), token_type_name(token_type)
    view.figure("heads", frame, chart, state=state, click=partial(_choose, view), type=name)


def _choose(view: View, mark: Mapping[Any, Any]) -> None:
    """Choose the head that was clicked, and show its pairs alone."""
    choose(view.key("scope"), "head")
    to_head(mark)
