"""Decomposition of the variance of scores into parts due to position, content and both."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.positions import score_share
from analysis.statistics.positions.score_share import PARTS
from pages.positions.offsets import head_row
from pages.ui.charts.chart_theme import Chart, coloured, column_tooltips, edged, flat_axis, layered
from pages.ui.charts.colours import SCORE_PART_COLOURS
from pages.ui.charts.head_map import head_map
from pages.ui.finding import Finding, Findings
from pages.ui.head.choice import head_of, to_head
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.interval import with_interval
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_OF_POSITION = {"position": "value", "position_low": "low", "position_high": "high"}


def _summary(inquiry: Inquiry) -> Findings:
    """Share of the scores' variance due to position alone, in the first and the last layer."""
    layers = inquiry.ask(score_share.by_layer)
    if layers.empty:
        return
    first, last = layers.iloc[0], layers.iloc[-1]
    most = layers.loc[layers["position"].idxmax()]
    ends = {"first": int(first["layer"]), "last": int(last["layer"])}
    before, after = percent(first["position"]), percent(last["position"])
    yield Finding(
        say("finding.label_shares", **ends),
        f"{before} → {after}",
        say(
            "finding.shares",
            **ends,
            before=before,
            after=after,
            layer=int(most["layer"]),
            **most[["position", "content"]].map(percent),
        ),
        layers.rename(columns=_OF_POSITION)[["layer", *_OF_POSITION.values()]].assign(
            name=say("positions.column.position")
        ),
        known_by=say("finding.shares_known_by"),
    )


@section("shares", score_share.TABLE, when=lambda store: store.knows_offsets, findings=_summary)
def shares(view: View) -> None:
    layers, heads = view.ask(score_share.by_layer), view.ask(score_share.heads)
    if layers.empty:
        return view.nothing("none")
    view.finding(_finding(view, layers, heads))
    parts = _parts(view, layers)
    view.figure("layers", parts, _layers(view, parts))
    part = view.pick("part", PARTS)
    marked = head_row(view)
    low = min(0.0, float(heads[part].min()))
    scale = alt.Scale(scheme="viridis", domain=[low, max(float(heads[part].max()), low + 0.01)])
    name, caption = view.say(f"part_{part}"), view.say(f"part_{part}_help")
    chart = head_map(heads, part, name, scale, format=".1%", marked=marked, legend_format="~%")
    view.figure("map", heads, chart, state=(part, *marked), click=to_head, caption=caption)
    shown = heads.sort_values("position", ascending=False)
    numbers = (name for part in PARTS for name in (part, f"{part}_low", f"{part}_high"))
    view.table("table", shown, dict.fromkeys(("layer", "head", *numbers, "deviation")))


def _finding(view: View, layers: pd.DataFrame, heads: pd.DataFrame) -> str:
    """Report the share of position alone in the first and last layer, and the head with most."""
    first, last = layers.iloc[0], layers.iloc[-1]
    most = heads.nlargest(1, "position").iloc[0]
    return view.say(
        "finding",
        first=int(first["layer"]),
        last=int(last["layer"]),
        before=_with_interval(first),
        after=_with_interval(last),
        content_before=percent(first["content"]),
        content_after=percent(last["content"]),
        head=head_of(most),
        most=_with_interval(most),
    )


def _with_interval(row: pd.Series) -> str:
    """Format the share of position alone with its interval."""
    return with_interval(row["position"], row["position_low"], row["position_high"], percent)


def _parts(view: View, layers: pd.DataFrame) -> pd.DataFrame:
    """One row per layer and part: layer, part, share, low, high, order."""
    parts = [
        layers[["layer"]].assign(
            part=view.say(f"part_{part}"),
            share=layers[part],
            low=layers[f"{part}_low"],
            high=layers[f"{part}_high"],
            order=order,
        )
        for order, part in enumerate(PARTS)
    ]
    return pd.concat(parts, ignore_index=True)


def _layers(view: View, parts: pd.DataFrame) -> Any:
    """Draw a bar per layer, divided into the four parts; negative parts hang below 0.

    Position alone starts at 0, so that its interval can be drawn around its end.
    """
    colours = {view.say(f"part_{part}"): colour for part, colour in SCORE_PART_COLOURS.items()}
    long, encoding, _ = coloured(parts, "part", title("part"), colours)
    y: dict[str, Any] = {"title": title("share"), "axis": alt.Axis(format=".0%", tickCount=6)}
    base = Chart(long).encode(
        x=alt.X("layer:O", title=title("layer"), axis=flat_axis()),
        tooltip=column_tooltips(long, layer="d", part="", share=".1%", low=".1%", high=".1%"),
    )
    bars = base.mark_bar(stroke="#80808055", strokeWidth=0.5).encode(
        y=alt.Y("share:Q", **y), order=alt.Order("order:Q"), color=encoding
    )
    of_position = base.transform_filter(alt.datum["order"] == PARTS.index("position"))
    between = of_position.encode(y=alt.Y("low:Q", **y), y2=alt.Y2("high"))
    return layered(bars, *(edged(between) if long["low"].notna().any() else ()), height=320)
