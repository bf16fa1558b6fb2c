"""The shift of queries against keys beside where attention leans (figure 7)."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.positions import query_key_correlation, query_key_wave
from analysis.tables.positions.head_offset import REACH
from analysis.tables.positions.offset_agreement import COUNTINGS
from pages.positions.offsets import offset_axis
from pages.ui.charts.colours import ATTENTION_COLOUR, LESS_TO_MORE, MARKED, SCORE_COLOUR
from pages.ui.charts.look import column_tooltips
from pages.ui.store.chosen import ask, is_causal
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import count
from pages.ui.words.offsets import offset_told
from pages.ui.words.place import said

_REACHES = (10, 30, 64)
_COLUMNS = {
    "sum": ("value", "attention"),
    "per_pair": ("value_per_pair", "attention_per_pair"),
    "centred": ("value_centred", "attention"),
}
_CURVES = {"score": SCORE_COLOUR, "given": ATTENTION_COLOUR}
"""The weighted cross-covariance, and the attention given."""
_WIDTH, _ROW, _CURVE = 660, 11, 150


def correlations(view: View, layer: int, head: int) -> None:
    sums = ask(query_key_correlation.of_head, layer=layer, head=head)
    if sums.empty:
        st.info(view.say("no_correlations"))
        return
    left, right = st.columns(2)
    with left:
        reach = view.pick("reach", _REACHES, default=30, format=lambda each: f"±{each}")
    with right:
        counting = view.pick("counting", list(COUNTINGS))
    names = dict(zip(_CURVES, _COLUMNS[counting], strict=True))
    curves = sums.assign(**{curve: sums[name] for curve, name in names.items()})
    curves = curves.dropna(subset=list(_CURVES))
    near = curves[curves["offset"].abs() <= REACH].set_index("offset")
    peaks = {curve: int(near[curve].idxmax()) for curve in _CURVES}
    score, attention = map(offset_told, peaks.values())
    agree = "same" if score == attention else "other"
    view.finding(view.say(f"peaks_{agree}", score=score, attention=attention))
    waves = ask(query_key_wave.correlations, layer=layer, head=head, seq=None)
    domain = (-reach, 0 if is_causal() else reach)
    waves = waves[waves["offset"].between(*domain)].dropna(subset="correlation")
    shown = curves[curves["offset"].between(*domain)]
    view.figure(
        "correlations",
        shown.drop(columns=list(_CURVES)),
        _chart(waves, shown, peaks, domain),
        state=f"{layer}_{head}_{reach}_{counting}",
        n=count(sums["n_sequences"].max()),
        window=REACH,
    )


def _chart(
    waves: pd.DataFrame, curves: pd.DataFrame, peaks: dict[str, int], domain: tuple[int, int]
) -> Any:
    """Three charts over one axis of offsets: directions one by one, their weighted sum, attention.

    Args:
        waves: rows rank, value, offset, correlation.
        curves: rows offset, score, given.
        peaks: the offset at which each curve is highest within the window.
        domain: the offsets that are drawn.
    """
    parts = [] if waves.empty else [_directions(waves, _offsets(domain))]
    for curve in _CURVES:
        x = _offsets(domain, titled=curve == "given")
        parts.append(_curve(curves, curve, peaks[curve], x))
    return alt.concat(*parts, columns=1, spacing=10).resolve_scale(color="independent")


def _offsets(domain: tuple[int, int], *, titled: bool = False) -> alt.X:
    return alt.X(
        "offset:Q",
        title=title("offset") if titled else None,
        scale=alt.Scale(domain=[domain[0] - 0.5, domain[1] + 0.5], nice=False, zero=False),
        axis=offset_axis(tickCount=13),
    )


def _directions(waves: pd.DataFrame, x: alt.X) -> Any:
    """One row per direction, the strongest on top."""
    cells = waves.assign(left=waves["offset"] - 0.5, right=waves["offset"] + 0.5)
    x.shorthand = "left:Q"
    top = float(cells["correlation"].abs().max()) or 1.0
    bend = [-top, -top / 4, 0, top / 4, top]
    scale = alt.Scale(domain=bend, range=list(LESS_TO_MORE), interpolate="rgb")
    legend = alt.Legend(format=".2~f", gradientLength=150)
    chart = alt.Chart(cells).mark_rect()
    chart = chart.encode(
        x=x,
        x2="right",
        y=alt.Y("rank:O", title=title("rank"), axis=alt.Axis(values=[1, 5, 10, 15, 20])),
        color=alt.Color("correlation:Q", title="xcorr", scale=scale, legend=legend),
        tooltip=column_tooltips(cells, rank="d", value=".2f", offset="+d", correlation=".3f"),
    )
    height = _ROW * waves["rank"].nunique()
    heading = _heading(said("correlations_directions"))
    return chart.properties(title=heading, width=_WIDTH, height=height)


def _curve(curves: pd.DataFrame, curve: str, peak: int, x: alt.X) -> Any:
    """A line over offsets with its greatest value within the window marked."""
    colour, axis = _CURVES[curve], alt.Axis(format=".3~s", tickCount=4, minExtent=36)
    base = alt.Chart(curves).encode(
        x=x,
        y=alt.Y(f"{curve}:Q", title=None, scale=alt.Scale(zero=False), axis=axis),
        tooltip=column_tooltips(curves, **{"offset": "+d", curve: ".4~g"}),
    )
    line = base.mark_line(color=colour, point={"size": 18, "filled": True, "color": colour})
    at = curves[curves["offset"] == peak].assign(label=f"t = {offset_told(peak)}")
    marked = alt.Chart(at).encode(x=x)
    rule = marked.mark_rule(color=MARKED, strokeWidth=2, strokeDash=[6, 4])
    label = marked.mark_text(color=MARKED, fontSize=12, fontWeight="bold")
    chart = alt.layer(rule, line, label.encode(y=alt.value(-8), text="label:N"))
    return chart.properties(title=_heading(title(curve)), width=_WIDTH, height=_CURVE)


def _heading(name: str) -> alt.Title:
    return alt.Title(name, anchor="start", frame="group", offset=14)
