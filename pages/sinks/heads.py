"""Attention of every head to a place, and the share of heads above a threshold."""

import altair as alt
import pandas as pd

from analysis.sinks import RATED, THRESHOLDS, USUAL_THRESHOLD
from analysis.statistics.sinks import sink
from pages.sinks.places import as_series, pick_place
from pages.ui.charts.chart_theme import with_axes
from pages.ui.charts.colours import SINK_COLOURS
from pages.ui.charts.head_map import head_map
from pages.ui.charts.standard import bars, lines
from pages.ui.head.choice import head_with_most, to_head
from pages.ui.head.picker import pick_head
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval
from pages.ui.words.names import place_name
from pages.ui.words.numbers import percent

_BARS = ("attention", "norm_share")


@section("heads", sink.TABLE, sink.RATE, also=(sink.PER_SEQUENCE,))
def heads(view: View) -> None:
    place = pick_place(view)
    quantity = view.pick("quantity", _BARS, format=lambda option: view.say(f"series_{option}"))
    threshold = view.pick("threshold", THRESHOLDS, default=USUAL_THRESHOLD, format=percent,
                          kind="select")  # fmt: skip
    frame = view.ask(sink.heads, place=place)
    of_heads = frame[frame["quantity"] == quantity]
    of_heads = of_heads.assign(below=of_heads["mean"] <= threshold)
    rates = view.ask(sink.rates, place=place, threshold=threshold)
    name, above = place_name(place), percent(threshold)
    view.finding(_finding(view, rates, of_heads, quantity, place=name, threshold=above))
    default = head_with_most(of_heads, "mean")
    marked = pick_head(view, default=default)
    chart = head_map(
        of_heads,
        "mean",
        view.say(f"map_axis_{quantity}"),
        format=".1%",
        legend_format="~%",
        tooltip=("low", "high"),
        marked=marked,
        clear="below",
    )
    state = (place, quantity, threshold, *marked)
    has_dots = (of_heads["mean"] > threshold).any()
    dots = view.say("map_dots", threshold=above) if has_dots else ""
    caption = f"{view.say('map_caption')} {dots}".strip()
    view.figure("map", of_heads, chart, state=state, click=to_head, caption=caption, place=name)
    by_layer, over = view.columns(2)
    with by_layer:
        _by_layer(view, rates, name, above)
    with over:
        _over_thresholds(view, view.ask(sink.over_thresholds, place=place), name)


def _by_layer(view: View, rates: pd.DataFrame, place: str, threshold: str) -> None:
    shown = rates[rates["layer"].notna() & rates["quantity"].isin(_BARS)]
    frame, drawn = as_series(view, shown.astype({"layer": int}), SINK_COLOURS)
    chart = bars(
        frame,
        x="layer",
        **drawn,
        y_title=view.say("rate_axis"),
        domain=(0, 1),
        tick_format="%",
        format=".1%",
        height=300,
    )
    view.figure("rates", frame, chart, place=place, threshold=threshold)


def _over_thresholds(view: View, rates: pd.DataFrame, place: str) -> None:
    frame, drawn = as_series(view, rates, {quantity: SINK_COLOURS[quantity] for quantity in RATED})
    chart = lines(
        frame,
        x="threshold",
        **drawn,
        columns=2,
        dashed=[view.say(f"series_{quantity}") for quantity in ("neighbour", "even")],
        y_title=view.say("rate_axis"),
        format=".1%",
        height=300,
    )
    axes = {"x": alt.Axis(format="%", tickCount=9, labelAngle=0), "y": alt.Axis(format="~%")}
    view.figure("thresholds", frame, with_axes(chart, **axes), place=place)


def _finding(
    view: View, rates: pd.DataFrame, of_heads: pd.DataFrame, quantity: str, **names: str
) -> str:
    """Report the rate over all layers, that of the neighbour, and the layer with the highest."""
    of_quantity = rates[rates["quantity"] == quantity]
    if not of_quantity["mean"].any():
        return view.say(f"none_{quantity}", **names)
    every = of_quantity[of_quantity["layer"].isna()].iloc[0]
    most = of_quantity[of_quantity["layer"].notna()].nlargest(1, "mean").iloc[0]
    beside = rates[rates["layer"].isna() & (rates["quantity"] == "neighbour")]["mean"]
    return view.say(
        f"finding_{quantity}",
        rate=row_with_interval(every, written=percent),
        beside=percent(float(beside.iloc[0]) if len(beside) else float("nan")),
        layer=int(most["layer"]),
        most=percent(most["mean"]),
        n=int((~of_heads["below"]).sum()),
        of=len(of_heads),
    )
