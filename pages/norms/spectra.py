"""Singular values of f for every head: its largest and smallest stretch (figure 2)."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.norms import singular_value
from pages.norms.transforms import no_affine_map
from pages.ui.charts.chart_theme import Chart, layered, tooltips
from pages.ui.charts.colours import ZERO
from pages.ui.charts.encodings import of_layers
from pages.ui.charts.head_map import from_zero, head_map
from pages.ui.choices.picker import choose
from pages.ui.head.choice import head_name
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import count

_MOST = 24
_MUCH = math.log(1.25)  # a ratio that differs by more than a quarter
_COLUMNS: dict[str, str | None] = {
    **dict.fromkeys(("layer", "head", "largest", "smallest")),
    **dict.fromkeys(("ratio", "linear_ratio"), "%.1f"),
}


@section("spectra", singular_value.TABLE, lacking=no_affine_map)
def spectra(view: View) -> None:
    stretch = _stretch(view)
    view.finding(_finding(view, stretch))
    steepest = stretch.groupby("layer")["label"].first().tolist()[:_MOST]
    places = stretch["label"].tolist()
    chosen = view.pick_many("heads", places, default=steepest, format=_name, limit=_MOST)
    _spectra(view, chosen, stretch)
    known = stretch.dropna(subset="ratio")
    if len(known):
        scale = from_zero(float(known["ratio"].max()), low=1.0)
        chart = head_map(known, "ratio", scale=scale, format=".1f")
        view.figure("map", known, chart, state=len(chosen), click=partial(_toggle, view))
    view.table("table", stretch.sort_values("ratio", ascending=False), _COLUMNS)


def _stretch(inquiry: Inquiry) -> pd.DataFrame:
    """Largest and smallest singular value of every head, with their ratio; NaN if one is 0."""
    frame = _with_places(inquiry.ask(singular_value.extremes))
    ratio, linear = (
        frame[f"{part}largest"] / frame[f"{part}smallest"].where(frame[f"{part}smallest"] > 0)
        for part in ("", "linear_")
    )
    return frame.assign(ratio=ratio, linear_ratio=linear)


def _with_places(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with their heads as `layer-head`."""
    return frame.assign(label=frame["layer"].astype(str) + "-" + frame["head"].astype(str))


def _finding(view: View, stretch: pd.DataFrame) -> str:
    ratio = stretch["ratio"].dropna()
    if ratio.empty:
        return view.say("no_ratio")
    return view.say(
        "finding",
        **ratio.agg(["min", "median", "max"]).map("{:.1f}".format),
        n=int(((stretch["ratio"] / stretch["linear_ratio"]).map(math.log).abs() > _MUCH).sum()),
        of=len(stretch),
        linear=f"{stretch['linear_ratio'].median():.1f}",
    )


def _name(place: str) -> str:
    layer, head = place.split("-")
    return head_name(int(layer), int(head))


def _toggle(view: View, cell: Mapping[Any, Any]) -> None:
    """Add or remove the head that was clicked in the map."""
    place = f"{cell['layer']}-{cell['head']}"
    heads = list(view.choices.state(view.key("heads")) or [])
    if place in heads:
        heads.remove(place)
    elif len(heads) < _MOST:
        heads.append(place)
    choose(view.key("heads"), heads)


def _spectra(view: View, chosen: list[str], stretch: pd.DataFrame) -> None:
    scale = view.pick("spectrum", ["linear", "log"])
    pairs = list(stretch[["layer", "head"]].itertuples(index=False, name=None))
    frame = _with_places(view.ask(singular_value.spectra, heads=pairs))
    frame = frame[frame["value"] > 0] if scale == "log" else frame
    shown = frame[frame["label"].isin(chosen)]
    shown = shown.assign(name=shown["label"].map(_name))
    ranks = frame.groupby("rank")["value"].agg(["min", "max"]).reset_index()
    view.figure(
        "question",
        shown.merge(ranks, on="rank"),
        _chart(shown, ranks, log=scale == "log"),
        state=scale,
        rank=count(frame["rank"].max()),
        size=count(view.store.run["hidden_size"] + 1),
    )


def _chart(shown: pd.DataFrame, ranks: pd.DataFrame, *, log: bool) -> Any:
    """Draw lines for some heads over the rank, on the range of all heads.

    Args:
        shown: layer, head, rank, value, name of the heads to draw as lines.
        ranks: rank, min, max over all heads.
    """
    scale = alt.Scale(type="log", nice=False) if log else alt.Scale(zero=True)
    x = alt.X(
        "rank:Q",
        title=title("rank"),
        scale=alt.Scale(domain=[1, int(ranks["rank"].max())], nice=False),
        axis=alt.Axis(format="d", tickMinStep=1),
    )
    band = Chart(ranks).mark_area(color=ZERO, opacity=0.2)
    band = band.encode(x=x, y=alt.Y("min:Q", title=title("value"), scale=scale), y2=alt.Y2("max"))
    base = Chart(shown).encode(
        x=x,
        y=alt.Y("value:Q", title=title("value"), scale=scale),
        detail=alt.Detail("name:N"),
        color=of_layers(shown),
        tooltip=tooltips(dict.fromkeys(("name", "rank", "value")), shown, ".4f"),
    )
    hit = base.mark_point(size=40, opacity=0)
    return layered(band, base.mark_line(strokeWidth=1.8), hit, height=360)
