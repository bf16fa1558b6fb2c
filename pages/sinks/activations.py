"""Largest coordinate of hidden states relative to the median, and the coordinates that hold it."""

import altair as alt
import pandas as pd

from analysis.sinks import EVERY
from analysis.statistics.sinks import massive_activation
from pages.sinks.places import depth_name, distinct, usual_place
from pages.ui.charts.chart_theme import with_axes
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.charts.standard import lines
from pages.ui.finding import Finding, Findings, compared, rows_of
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval
from pages.ui.words.names import place_name
from pages.ui.words.numbers import ABSENT, percent
from pages.ui.words.say import say

_RATIO, _MASSIVE = "ratio", "massive"
_OTHER = "other"


def _summary(inquiry: Inquiry) -> Findings:
    """Compare the largest coordinate of the opening token with that of other tokens."""
    frame, place = inquiry.ask(massive_activation.by_depth), usual_place(inquiry)
    there = _at_peak(frame, place)
    if _OTHER not in there.index:
        return
    massive = frame[(frame["quantity"] == _MASSIVE) & (frame["place"] == EVERY)]["mean"].max()
    name, baseline = place_name(place), say("finding.massive_others")
    ends = ["mean", "low", "high"]
    evidence = rows_of([(name, *there.loc[place, ends]), (baseline, *there.loc[_OTHER, ends])])
    if compared(evidence, baseline) == "below":
        return
    depth = depth_name(int(there["depth"].iloc[0]))
    ratio, others = evidence["value"].map(_medians)
    yield Finding(
        say("finding.label_massive", place=name, depth=depth),
        say("finding.massive_number", ratio=ratio),
        say(
            f"finding.massive_{'some' if massive > 0 else 'none'}",
            place=name,
            depth=depth,
            ratio=ratio,
            others=others,
            share=percent(float(massive)),
        ),
        evidence,
        baseline=baseline,
        format=",.1f",
    )


@section(
    "activations",
    massive_activation.TABLE,
    massive_activation.COORDINATE,
    also=(massive_activation.PER_SEQUENCE,),
    findings=_summary,
)
def activations(view: View) -> None:
    frame = view.ask(massive_activation.by_depth)
    quantity = view.pick("quantity", (_RATIO, "largest"))
    scale = view.pick("scale", ("log", "linear"))
    kept = [*distinct(frame["place"]), _OTHER]
    shown = frame[(frame["quantity"] == quantity) & frame["place"].isin(kept)]
    view.finding(_finding(view, frame))
    chart = lines(
        shown,
        x="depth",
        y="mean",
        colour="place",
        y_title=view.say(f"axis_{quantity}"),
        y_scale=scale,
        format=".1f",
    )
    view.figure("depths", shown, chart)
    _coordinates(view, [place for place in kept if place in set(frame["place"])])


def _coordinates(view: View, kept: list[str]) -> None:
    """Draw the coordinates of the largest activations at a picked place, depth by depth."""
    named = {EVERY: view.say("every"), **{name: place_name(name) for name in kept}}
    place = view.pick("whose", named, kind="select")
    coordinates = view.ask(massive_activation.coordinates_by_depth, place=place)
    often = coordinates.groupby("coordinate")["mean"].max().nlargest(len(SERIES_COLOURS)).index
    shown = coordinates[coordinates["coordinate"].isin(often)]
    shown = shown.assign(coordinate=shown["coordinate"].astype(str))
    view.finding(_same(view, coordinates, named[place]))
    chart = lines(
        shown,
        x="depth",
        y="mean",
        colour="coordinate",
        colour_title=view.say("coordinate_axis"),
        y_title=view.say("share_axis"),
        format=".1%",
        height=240,
    )
    chart = with_axes(chart, y=alt.Axis(format="%", tickCount=5))
    view.figure("coordinates", shown, chart, state=(place,), place=named[place])


def _finding(view: View, frame: pd.DataFrame) -> str:
    """Report the depth with the largest ratio at the opening token, and the other tokens there."""
    place = usual_place(view)
    there = _at_peak(frame, place)
    peak, ratios = there.loc[place], there["mean"].map(_medians)
    massive = frame[(frame["quantity"] == _MASSIVE) & (frame["place"] == EVERY)]
    most = massive.nlargest(1, "mean").iloc[0]
    sentence = view.say(
        "finding",
        place=place_name(place),
        depth=depth_name(int(there["depth"].iloc[0])),
        ratio=row_with_interval(peak, written=_medians),
        others=ratios.get(_OTHER, ABSENT),
    )
    share, depth = percent(float(most["mean"])), depth_name(int(most["depth"]))
    word = "some_massive" if most["mean"] > 0 else "none_massive"
    return f"{sentence} {view.say(word, share=share, depth=depth)}"


def _at_peak(frame: pd.DataFrame, place: str) -> pd.DataFrame:
    """Ratio of every place, by place, at the depth where that of one place is largest."""
    ratios = frame[frame["quantity"] == _RATIO]
    peak = ratios[ratios["place"] == place].nlargest(1, "mean")
    return ratios[ratios["depth"].isin(peak["depth"])].set_index("place")


def _medians(value: float) -> str:
    """Format the size of a coordinate in medians."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _same(view: View, coordinates: pd.DataFrame, place: str) -> str:
    """Count the depths whose largest activation is mostly in the same coordinate."""
    best = coordinates.sort_values("mean", ascending=False).drop_duplicates("depth")
    coordinate = best["coordinate"].mode().iloc[0]
    same = best[best["coordinate"] == coordinate]
    values = {"place": place, "coordinate": int(coordinate), "n": len(same), "of": len(best)}
    least = float(same["mean"].min())
    if least == 1:
        return view.say("finding_always", **values)
    return view.say("finding_same", **values, share=percent(least))
