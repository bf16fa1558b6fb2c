"""Correlation of a module's change in mixing with the PMI of the pair in the corpus."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.statistics.pairs import pair, pair_delta, pair_pmi_correlation
from analysis.statistics.sample import least_count
from pages.token_pairs.choices import PAIR, choice, to_pair
from pages.token_pairs.lists import CHANGE, with_pair_names
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.charts.points import scatter
from pages.ui.charts.standard import lines
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval
from pages.ui.words.names import effect_name
from pages.ui.words.numbers import count, signed

_DRAWN = 1_500
_WINDOWS = {str(size or "sequence"): size for size in reversed(pair_pmi_correlation.WINDOWS)}


@section("pmi", pair_pmi_correlation.TABLE, pair.TABLE, pair_delta.TABLE)
def pmi(view: View) -> None:
    effect = choice(view, "effect")
    window = view.pick("pmi_window", list(_WINDOWS))
    there = least_count(view.store.facts)
    counts = [number for number in pair_pmi_correlation.MIN_COUNTS if number >= there]
    least = view.pick("pmi_least", counts or pair_pmi_correlation.MIN_COUNTS[-1:], of="least")
    frame = view.ask(pair_pmi_correlation.by_layer, min_count=least, window_size=_WINDOWS[window])
    frame = frame.dropna(subset="spearman")
    if frame.empty:
        return view.nothing("nothing", least=least)
    of_effect = frame[frame["effect"] == effect]
    view.finding(_finding(view, of_effect, effect, window))
    names = {
        quantity: view.say(f"quantity_{quantity}") for quantity in pair_pmi_correlation.QUANTITIES
    }
    named = of_effect.assign(quantity=of_effect["quantity"].map(names))
    colours = dict(zip(names.values(), SERIES_COLOURS, strict=False))
    _lines(view, "compared", named, "quantity", colours, effect=effect_name(effect))
    _lines(view, "layers", frame[frame["quantity"] == "partial"], "effect")
    if window == "sequence":
        _points(view, effect, least, of_effect)
    else:
        view.nothing("points_elsewhere")


def _finding(view: View, frame: pd.DataFrame, effect: str, window: str) -> str:
    """Report the lowest and the highest partial ρ over layers, with intervals and raw ρ."""
    partial = frame[frame["quantity"] == "partial"]
    if partial.empty:
        return view.say("finding_none", effect=effect_name(effect))
    raw = frame[frame["quantity"] == "pmi"].set_index("layer")["spearman"]
    values: dict[str, Any] = {}
    ends = partial.sort_values("spearman").iloc[[0, -1]].to_dict("records")
    for name, row in zip(("low", "high"), ends, strict=True):
        values |= {
            name: row_with_interval(row, "spearman"),
            f"{name}_layer": int(row["layer"]),
            f"{name}_raw": signed(raw[row["layer"]]),
        }
    sure = partial.dropna(subset=["low", "high"])
    above, below = int((sure["low"] > 0).sum()), int((sure["high"] < 0).sum())
    kind = "unsure" if sure.empty else "clear" if above or below else "unclear"
    values |= {"above": above, "below": below, "layers": len(partial)}
    values |= {"effect": effect_name(effect), "window": view.say(f"pmi_window_{window}")}
    return view.say(f"finding_{kind}", **values)


def _lines(
    view: View,
    name: str,
    frame: pd.DataFrame,
    colour: str,
    colours: Mapping[str, str] | None = None,
    **values: Any,
) -> None:
    """Draw ρ by layer, with bands where there are intervals."""
    chart = lines(
        frame,
        y="spearman",
        colour=colour,
        colour_title=" ",
        colours=colours,
        level=0.0,
        height=380,
    )
    view.figure(name, frame, chart, **values)


def _points(view: View, effect: str, least: int, correlations: pd.DataFrame) -> None:
    """Draw pairs of one layer as points; a click opens one."""
    layer = choice(view, "layer")
    asked = {"layer": layer, "effect": effect, "min_count": least}
    frame = view.ask(pair_pmi_correlation.points, limit=_DRAWN, **asked)
    if frame.empty:
        return view.nothing("nothing", least=least)
    here = correlations[correlations["layer"] == layer].set_index("quantity")
    rho = here["spearman"].map(signed)
    shown = with_pair_names(frame)
    chart = scatter(
        shown,
        x="pmi",
        y=CHANGE,
        colour="relation",
        tooltip=("pair", "pmi", CHANGE, "n", "relation"),
        x_scale="linear",
        level=0.0,
        pick=PAIR,
        size=34,
        format="+.2f",
        height=420,
    )
    view.figure(
        "pmi_points",
        shown,
        chart,
        state=f"{layer}_{effect}_{least}",
        click=to_pair,
        layer=layer,
        effect=effect_name(effect),
        n=count(len(frame)),
        rho=rho.get("pmi", "–"),
        partial=rho.get("partial", "–"),
        n_pairs=count(here["n_pairs"].iloc[0]) if len(here) else "–",
    )
