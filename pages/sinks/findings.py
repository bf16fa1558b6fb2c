"""What a file says at a glance of where attention rests."""

from collections.abc import Callable, Iterator

import pandas as pd

from analysis.sinks import EVERY, USUAL_THRESHOLD
from analysis.tables.sinks import massive_activation, sink, sink_rate
from pages.sinks.places import depth_name, usual_place
from pages.ui.finding import Finding, rows_of
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.names import place_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_NEAR = 0.02
_NUMBER = ["mean", "low", "high"]


def _resting() -> Iterator[Finding]:
    """The layer in which most rests on the opening token, and what arrives from it."""
    place = usual_place()
    if not open_store().holds(sink_rate.TABLE):
        return
    frame = ask(sink.by_layer)
    of_place = frame[frame["place"] == place].rename(columns={"mean": "value"})
    weights, norms, even = (
        of_place[of_place["quantity"] == quantity]
        for quantity in ("attention", "norm_share", "even")
    )
    peak = weights.nlargest(1, "value").iloc[0]
    layer = int(peak["layer"])
    norm, plain = (float(part[part["layer"] == layer]["value"].iloc[0]) for part in (norms, even))
    rates = ask(sink_rate.rates, place=place, threshold=USUAL_THRESHOLD)
    rates = rates[rates["layer"].isna() & (rates["quantity"] == "attention")]
    evidence = [weights.assign(name=say("finding.sink_weight"))]
    evidence.append(even.assign(name=say("finding.sink_even")))
    yield Finding(
        say("finding.label_sink", place=place_name(place)),
        f"{percent(peak['value'])} → {percent(norm)}",
        say(
            f"finding.sink_{'less' if norm < peak['value'] - _NEAR else 'more'}",
            place=place_name(place),
            layer=layer,
            share=percent(peak["value"]),
            even=percent(plain),
            norm=percent(norm),
            rate=percent(float(rates["mean"].iloc[0])),
            threshold=percent(USUAL_THRESHOLD),
        ),
        "layers",
        pd.concat(evidence, ignore_index=True)[["name", "layer", "value", "low", "high"]],
        baseline=say("finding.sink_even"),
    )


def _massive() -> Iterator[Finding]:
    """How far the opening token's largest coordinate stands out, beside that of other tokens."""
    frame, place = ask(massive_activation.by_depth), usual_place()
    ratios = frame[frame["quantity"] == "ratio"]
    peaks = ratios[ratios["place"] == place].nlargest(1, "mean")
    there = ratios[ratios["depth"].isin(peaks["depth"]) & (ratios["place"] == "other")]
    if there.empty or there["mean"].iloc[0] >= peaks["mean"].iloc[0]:
        return
    peak, others = peaks.iloc[0], there.iloc[0]
    massive = frame[(frame["quantity"] == "massive") & (frame["place"] == EVERY)]["mean"].max()
    name, baseline, ratio = place_name(place), say("finding.massive_others"), f"{peak['mean']:,.0f}"
    yield Finding(
        say("finding.label_massive", place=name),
        say("finding.massive_number", ratio=ratio),
        say(
            f"finding.massive_{'some' if massive > 0 else 'none'}",
            place=name,
            depth=depth_name(int(peak["depth"])),
            ratio=ratio,
            others=f"{others['mean']:,.0f}",
            share=percent(float(massive)),
        ),
        "activations",
        rows_of([(name, *peak[_NUMBER]), (baseline, *others[_NUMBER])]),
        baseline=baseline,
        format=",.1f",
    )


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "sink": _resting,
    "massive_activation": _massive,
}
