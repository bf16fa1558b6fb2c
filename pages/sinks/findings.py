"""What a file says at a glance of where attention rests."""

from collections.abc import Callable, Iterator

import pandas as pd

from analysis.sinks import EVERY, USUAL_THRESHOLD
from analysis.tables.sinks import massive_activation, sink, sink_rate
from pages.sinks.places import depth_name, usual_place
from pages.ui.finding import Finding
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.names import place_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_PAGE = "sinks"
_NEAR = 0.02


def _resting() -> Iterator[Finding]:
    """The layer in which most rests on the opening token, and what arrives from it."""
    place = usual_place()
    if not open_store().rows.get(sink_rate.TABLE.name):
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
        _PAGE,
        "layers",
        pd.concat(evidence, ignore_index=True)[["name", "layer", "value", "low", "high"]],
        baseline=say("finding.sink_even"),
    )


def _massive() -> Iterator[Finding]:
    """How far the opening token's largest coordinate stands out, beside that of other tokens."""
    frame = ask(massive_activation.by_depth)
    ratios = frame[frame["quantity"] == "ratio"]
    both = _beside(ratios, usual_place())
    if both is None:
        return
    peak, others = both
    massive = frame[(frame["quantity"] == "massive") & (frame["place"] == EVERY)]["mean"].max()
    rows = [
        {**row, "name": name, "value": row["mean"]}
        for name, row in (
            (place_name(peak["place"]), peak),
            (say("finding.massive_others"), others),
        )
    ]
    yield Finding(
        say("finding.label_massive", place=place_name(peak["place"])),
        say("finding.massive_number", ratio=f"{peak['mean']:,.0f}"),
        say(
            f"finding.massive_{'some' if massive > 0 else 'none'}",
            place=place_name(peak["place"]),
            depth=depth_name(int(peak["depth"])),
            ratio=f"{peak['mean']:,.0f}",
            others=f"{others['mean']:,.0f}",
            **({"share": percent(float(massive))} if massive > 0 else {}),
        ),
        _PAGE,
        "activations",
        pd.DataFrame(rows)[["name", "value", "low", "high"]],
        baseline=say("finding.massive_others"),
        format=",.1f",
    )


def _beside(ratios: pd.DataFrame, place: str) -> tuple[pd.Series, pd.Series] | None:
    """The depth at which a place stands out most, and other tokens there; None if there are no
    others or they stand out as much."""
    peak = ratios[ratios["place"] == place].nlargest(1, "mean")
    if peak.empty:
        return None
    here = ratios[(ratios["depth"] == peak["depth"].iloc[0]) & (ratios["place"] == "other")]
    if here.empty or here["mean"].iloc[0] >= peak["mean"].iloc[0]:
        return None
    return peak.iloc[0], here.iloc[0]


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "sink": _resting,
    "massive_activation": _massive,
}
