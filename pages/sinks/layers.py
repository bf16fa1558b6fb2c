"""Attention to a place by layer, compared with a neighbour and with an even share."""

import altair as alt
import pandas as pd

from analysis.statistics.sinks import sink
from pages.sinks.places import as_series, distinct, pick_place, usual_place
from pages.ui.charts.chart_theme import with_axes
from pages.ui.charts.colours import SINK_COLOURS
from pages.ui.charts.standard import lines
from pages.ui.finding import Finding, Findings, over_layers, rows_of
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval, side_of
from pages.ui.words.names import place_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_COMPARED = ("neighbour", "even")


def _summary(inquiry: Inquiry) -> Findings:
    """Compare attention to the opening token with the norm from it, over all layers."""
    place, frame = usual_place(inquiry), inquiry.ask(sink.by_layer)
    evidence = _over_layers(frame[frame["place"] == place])
    shares = evidence["value"].map(percent)
    yield Finding(
        say("finding.label_sink", place=place_name(place)),
        f"{shares['share']} → {shares['norm']}",
        say("finding.sink", place=place_name(place), **shares),
        evidence,
        baseline=say("finding.sink_even"),
    )


@section("layers", sink.TABLE, findings=_summary)
def layers(view: View) -> None:
    place, frame = pick_place(view), view.ask(sink.by_layer)
    of_place = frame[frame["place"] == place]
    view.finding(_finding(view, of_place, place))
    shown, drawn = as_series(view, of_place, SINK_COLOURS)
    chart = lines(
        shown,
        **drawn,
        dashed=[view.say(f"series_{name}") for name in _COMPARED],
        y_title=view.say("share_axis"),
        format=".1%",
    )
    chart = with_axes(chart, y=alt.Axis(format="%", tickCount=6))
    view.figure("weights", shown, chart, place=place_name(place))
    kept = frame[frame["place"].isin(distinct(frame["place"]))]
    for column, quantity in zip(view.columns(2), ("attention", "relative_norm"), strict=True):
        with column:
            of_quantity = kept[kept["quantity"] == quantity]
            if of_quantity.empty and view.store.facts.get("transforms") == "gated":
                view.write("caption", view.say("gated"))
            else:
                _of_places(view, of_quantity, quantity)


def _of_places(view: View, frame: pd.DataFrame, quantity: str) -> None:
    """Draw one quantity of all places, layer by layer."""
    is_share = quantity == "attention"
    chart = lines(
        frame,
        y="mean",
        colour="place",
        y_title=view.say(f"axis_{quantity}"),
        columns=2,
        level=None if is_share else 1.0,
        format=".1%" if is_share else ".2f",
        height=300,
    )
    axis = alt.Axis(format="%" if is_share else "~g", tickCount=5)
    view.figure(f"places_{quantity}", frame, with_axes(chart, y=axis))


def _finding(view: View, of_place: pd.DataFrame, place: str) -> str:
    """Name the layer with most attention to a place, compared with a neighbour and an even share.

    Adds the means over layers.
    """
    peak = of_place[of_place["quantity"] == "attention"].nlargest(1, "mean").iloc[0]
    there = of_place[of_place["layer"] == peak["layer"]].set_index("quantity")
    others = there.loc[[quantity for quantity in _COMPARED if quantity in there.index]]
    ends = (peak["low"], peak["high"], others["mean"].max(), others["high"].max())
    sentences = [
        view.say(
            "finding",
            place=place_name(place),
            layer=int(peak["layer"]),
            share=row_with_interval(peak, written=percent),
            even=percent(there.loc["even", "mean"]),
            neighbour=percent(there["mean"].get("neighbour", float("nan"))),
            norm=percent(there.loc["norm_share", "mean"]),
        ),
        view.say(f"finding_{side_of(*ends)}"),
        view.say("finding_mean", **_over_layers(of_place)["value"].map(percent)),
    ]
    return " ".join(sentences)


def _over_layers(of_place: pd.DataFrame) -> pd.DataFrame:
    """Share of a place in attention, in the norm and in even attention, as means over layers.

    Returns evidence with the index share, norm, even.

    Args:
        of_place: rows of `sink.by_layer` of the place.
    """
    quantities = {"share": "attention", "norm": "norm_share", "even": "even"}
    names = {"share": "weight", "norm": "norm", "even": "even"}
    parts = {key: of_place[of_place["quantity"] == name] for key, name in quantities.items()}
    rows = rows_of(
        (say(f"finding.sink_{names[key]}"), *over_layers(part)) for key, part in parts.items()
    )
    return rows.set_axis(list(parts))
