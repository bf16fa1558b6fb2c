"""Test of whether heads of one layer attend more alike than heads of different layers."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.heads import head_arrangement, head_distance
from pages.head_map.apart import DISTANCE, LEVEL, chance, nats
from pages.ui.charts.chart_theme import Chart, flat_axis, layered, tooltips
from pages.ui.charts.colours import IN_NO_GROUP, SAME_LAYER_COLOURS
from pages.ui.charts.encodings import named
from pages.ui.finding import Finding, Findings, rows_of
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import count
from pages.ui.words.say import say

_SIDES = ("within", "between")


def _summary(inquiry: Inquiry) -> Findings:
    """Compare distances within layers with those between layers, by a permutation test."""
    frame = inquiry.ask(head_arrangement.cohesion)
    for _, row in frame[frame["layer"].isna()].iterrows():
        p, alike = chance(row["p_value"]), row["difference"] > 0 and row["p_value"] < LEVEL
        yield Finding(
            say("finding.label_cohesion"),
            say("finding.cohesion_number", **row[list(_SIDES)].map(nats)),
            say(f"finding.cohesion_{'alike' if alike else 'unclear'}", p=p),
            rows_of((say(f"finding.{side}"), row[side]) for side in _SIDES),
            baseline=say("finding.between"),
            format=".2f",
            known_by=say("finding.cohesion_known_by", p=p),
        )


@section("layers", head_arrangement.COHESION, also=(head_distance.TABLE,), findings=_summary)
def layers(view: View) -> None:
    weighing = view.pick_weighing()
    frame = view.ask(head_arrangement.cohesion, weighing=weighing)
    by_layer = frame.dropna(subset="layer").astype({"layer": "int64"})
    view.finding(_finding(view, frame[frame["layer"].isna()].iloc[0], by_layer))
    points = _points(by_layer)
    view.figure("chart", points, _chart(by_layer, points), state=weighing, weighing=weighing)
    columns = ["layer", *_SIDES, "difference", "p_value", "n_permutations"]
    view.table("table", with_all_layers(frame, view), columns, state=weighing)


def with_all_layers(frame: pd.DataFrame, view: View) -> pd.DataFrame:
    """Replace the missing layer, which stands for all layers, by a display name."""
    names = [view.say("all") if pd.isna(layer) else f"{layer:g}" for layer in frame["layer"]]
    return frame.assign(layer=names)


def _finding(view: View, every: pd.Series, by_layer: pd.DataFrame) -> str:
    """Report the permutation test over all layers, and the layers that are significant alone."""
    finding = view.say(
        f"finding_{'clear' if every['p_value'] < LEVEL else 'unclear'}",
        **every[list(_SIDES)].map(nats),
        p=chance(every["p_value"]),
        n=count(every["n_permutations"]),
    )
    alike = by_layer.loc[by_layer["p_value"] < LEVEL, "layer"].astype(str)
    if alike.empty:
        return f"{finding} {view.say('none', n=len(by_layer))}"
    named = say("list.comma").join(alike)
    return f"{finding} {view.say('single', layers=named, some=len(alike), n=len(by_layer))}"


def _points(by_layer: pd.DataFrame) -> pd.DataFrame:
    """Two rows per layer, for the mean distance within it and to other layers.

    Columns: side and mean_divergence, and those of the layer.
    """
    names = {side: title(side) for side in _SIDES}
    sides = by_layer.rename(columns=names).melt(
        id_vars="layer", value_vars=list(names.values()), var_name="side", value_name=DISTANCE
    )
    return by_layer.merge(sides, on="layer")


def _chart(by_layer: pd.DataFrame, points: pd.DataFrame) -> Any:
    """Draw two points per layer, joined by a rule."""
    x = alt.X("layer:O", title=title("layer"), axis=flat_axis())
    rules = (
        Chart(by_layer)
        .mark_rule(strokeWidth=2, color=IN_NO_GROUP)
        .encode(x=x, y=alt.Y("within:Q", title=title(DISTANCE)), y2=alt.Y2("between"))
    )
    tooltip = tooltips(
        {"layer": None, "side": " ", DISTANCE: None, "difference": None}, points, ".3f"
    ) + tooltips({"p_value": None}, points, ".4f")
    colours = dict(zip(map(title, _SIDES), SAME_LAYER_COLOURS, strict=True))
    shapes = alt.Scale(domain=list(colours), range=["circle", "diamond"])
    dots = (
        Chart(points)
        .mark_point(filled=True, size=110, opacity=1)
        .encode(
            x=x,
            y=alt.Y(f"{DISTANCE}:Q", title=title(DISTANCE), axis=alt.Axis(tickCount=6)),
            color=named("side", colours, title=None),
            shape=alt.Shape("side:N", title=None, scale=shapes),
            tooltip=tooltip,
        )
    )
    return layered(rules, dots, height=320)
