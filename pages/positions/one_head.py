"""One head from its weights to where its attention leans (figures 2, 4, 6 and 7)."""

import math
from collections.abc import Iterator
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.positions import (
    exemplar_attention,
    head_offset,
    query_key_correlation,
    query_key_error,
    query_key_phase,
    query_key_rotation,
    query_key_singular_value,
    query_key_wave,
    relative_position_profile,
)
from analysis.tables.positions.head_offset import REACH
from pages.positions.curves import WIDTH, curve_over_offsets, heading, offsets_across
from pages.positions.numbers_of_head import numbers_of_head
from pages.positions.offsets import counting_picker, pick_positions_head
from pages.positions.one_text import attention, waves
from pages.positions.phases import phases
from pages.ui.charts.colours import ATTENTION_COLOUR, LESS_TO_MORE, SCORE_COLOUR
from pages.ui.charts.look import column_tooltips
from pages.ui.head.choice import row_of
from pages.ui.page import section
from pages.ui.store.chosen import adds_positions, ask, is_causal
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import count, percent, signed
from pages.ui.words.offsets import offset_label
from pages.ui.words.place import say_here

_REACHES = (10, 30, 64)
_COLUMNS = {
    "sum": ("value", "attention"),
    "per_pair": ("value_per_pair", "attention_per_pair"),
    "centred": ("value_centred", "attention"),
}
_CURVES = {"score": SCORE_COLOUR, "given": ATTENTION_COLOUR}
"""The weighted cross-covariance, and the attention given."""
_ROW = 11


@section(
    "one_head",
    exemplar_attention.TABLE,
    relative_position_profile.TABLE,
    query_key_wave.TABLE,
    query_key_phase.TABLE,
    query_key_correlation.TABLE,
    also=(
        head_offset.TABLE,
        query_key_singular_value.TABLE,
        query_key_rotation.TABLE,
        query_key_error.TABLE,
    ),
    when=adds_positions,
)
def one_head(view: View) -> None:
    layer, head = pick_positions_head(view)
    if is_causal():
        view.finding(view.say("causal"))
    seq = attention(view, layer, head)
    numbers_of_head(view, layer, _numbers(view, layer, head))
    waves(view, layer, head, seq)
    phases(view, layer, head)
    _correlations(view, layer, head)


def _numbers(view: View, layer: int, head: int) -> Iterator[tuple[str, str, str]]:
    """How much the head depends on offsets, and which it prefers; then the strongest singular
    value, and what share of all squares it and the next few hold."""
    offsets = row_of(ask(head_offset.heads), layer, head)
    if offsets is not None:
        dependence = signed(offsets["dependence"])
        yield title("dependence"), dependence, view.say("dependence")
        for name in ("attention_offset", "score_offset"):
            both = (offset_label(offsets[column]) for column in (name, f"{name}_per_pair"))
            yield view.say(f"card_{name}"), " / ".join(both), view.say("card_offset_help")
    values = ask(query_key_singular_value.of_head, layer=layer, head=head)["value"]
    if len(values):
        squares = values**2
        share = squares.nlargest(4).sum() / squares.sum() if squares.sum() > 0 else math.nan
        yield view.say("card_strongest"), f"{values.max():.2f}", view.say("card_strongest_help")
        yield view.say("card_share"), percent(share), view.say("card_share_help")


def _correlations(view: View, layer: int, head: int) -> None:
    """The shift of queries against keys beside where attention leans (figure 7)."""
    sums = ask(query_key_correlation.of_head, layer=layer, head=head)
    if sums.empty:
        st.info(view.say("no_correlations"))
        return
    reach = view.pick("reach", _REACHES, default=30, format=lambda offset: f"±{offset}")
    counting = counting_picker(view)
    names = dict(zip(_CURVES, _COLUMNS[counting], strict=True))
    curves = sums.assign(**{curve: sums[name] for curve, name in names.items()})
    curves = curves.dropna(subset=list(_CURVES))
    near = curves[curves["offset"].abs() <= REACH].set_index("offset")
    peaks = {curve: int(near[curve].idxmax()) for curve in _CURVES}
    score, attention = map(offset_label, peaks.values())
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
        peaks: the offset at which each curve is highest within the window.
    """
    parts = [] if waves.empty else [_directions(waves, offsets_across(domain))]
    for curve in _CURVES:
        x = offsets_across(domain, titled=curve == "given")
        parts.append(curve_over_offsets(curves, curve, x, colour=_CURVES[curve], peak=peaks[curve]))
    return alt.concat(*parts, columns=1, spacing=10).resolve_scale(color="independent")


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
        x2=alt.X2("right"),
        y=alt.Y("rank:O", title=title("rank"), axis=alt.Axis(values=[1, 5, 10, 15, 20])),
        color=alt.Color("correlation:Q", title="xcorr", scale=scale, legend=legend),
        tooltip=column_tooltips(cells, rank="d", value=".2f", offset="+d", correlation=".3f"),
    )
    height = _ROW * waves["rank"].nunique()
    named = heading(say_here("correlations_directions"))
    return chart.properties(title=named, width=WIDTH, height=height)
