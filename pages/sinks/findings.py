"""Findings for the overview on attention sinks."""

from collections.abc import Callable, Iterator

import pandas as pd

from analysis.sinks import EVERY
from analysis.statistics.sinks import massive_activation, sink
from pages.sinks.places import depth_name, usual_place
from pages.ui.finding import Finding, compared, over_layers, rows_of
from pages.ui.store.chosen import ask
from pages.ui.words.names import place_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_NUMBER = ["mean", "low", "high"]


def shares_over_layers(of_place: pd.DataFrame) -> pd.DataFrame:
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


def _resting() -> Iterator[Finding]:
    """Compare attention to the opening token with the norm from it, over all layers."""
    place, frame = usual_place(), ask(sink.by_layer)
    evidence = shares_over_layers(frame[frame["place"] == place])
    shares = evidence["value"].map(percent)
    yield Finding(
        say("finding.label_sink", place=place_name(place)),
        f"{shares['share']} → {shares['norm']}",
        say("finding.sink", place=place_name(place), **shares),
        "layers",
        evidence,
        baseline=say("finding.sink_even"),
    )


def _massive() -> Iterator[Finding]:
    """Compare the largest coordinate of the opening token with that of other tokens."""
    frame, place = ask(massive_activation.by_depth), usual_place()
    ratios = frame[frame["quantity"] == "ratio"]
    peaks = ratios[ratios["place"] == place].nlargest(1, "mean")
    there = ratios[ratios["depth"].isin(peaks["depth"]) & (ratios["place"] == "other")]
    if there.empty:
        return
    peak, others = peaks.iloc[0], there.iloc[0]
    massive = frame[(frame["quantity"] == "massive") & (frame["place"] == EVERY)]["mean"].max()
    name, baseline, ratio = place_name(place), say("finding.massive_others"), medians(peak["mean"])
    evidence = rows_of([(name, *peak[_NUMBER]), (baseline, *others[_NUMBER])])
    if compared(evidence, baseline) == "below":
        return
    depth = depth_name(int(peak["depth"]))
    yield Finding(
        say("finding.label_massive", place=name, depth=depth),
        say("finding.massive_number", ratio=ratio),
        say(
            f"finding.massive_{'some' if massive > 0 else 'none'}",
            place=name,
            depth=depth,
            ratio=ratio,
            others=medians(others["mean"]),
            share=percent(float(massive)),
        ),
        "activations",
        evidence,
        baseline=baseline,
        format=",.1f",
    )


def medians(value: float) -> str:
    """Format the size of a coordinate in medians."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "sink": _resting,
    "massive_activation": _massive,
}
