"""One head with a kernel: score by offset from position alone, rotary planes, and attention."""

from collections.abc import Iterator
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.statistics.corpus import sequence_lengths
from analysis.statistics.positions import (
    exemplar_attention,
    head_offset,
    query_key_correlation,
    relative_position_profile,
    score_share,
    score_sums,
)
from pages.positions.of_one_head import numbers_of_head, score_above_attention
from pages.positions.offsets import offset_axis, pick_positions_head
from pages.positions.one_text import attention
from pages.ui.charts.chart_theme import Chart, column_tooltips, layered, ramp
from pages.ui.charts.colours import MARKED
from pages.ui.head.choice import row_of
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.interval import interval
from pages.ui.words.numbers import change, count, offset_label, percent, signed

_COHERENT = 0.5
_TENS = [sign * 10**power for sign in (-1, 1) for power in range(6)]


@section(
    "one_head",
    score_share.KERNEL,
    query_key_correlation.TABLE,
    exemplar_attention.TABLE,
    relative_position_profile.TABLE,
    also=(head_offset.TABLE, score_share.TABLE, query_key_correlation.ERRORS, score_sums.PLANES),
    when=lambda store: store.knows_offsets,
)
def turned_head(view: View) -> None:
    layer, head = pick_positions_head(view)
    if view.store.is_causal:
        view.note(view.say("causal"))
    peak = score_above_attention(view, "kernel", layer, head)
    numbers_of_head(view, layer, _numbers(view, layer, head))
    if view.store.turns_positions and view.store.holds(score_sums.PLANES):
        _planes(view, layer, head, peak)
    attention(view, layer, head)


def _numbers(view: View, layer: int, head: int) -> Iterator[tuple[str, str, str]]:
    """Yield the head's position dependence and the parts of its scores' variance."""
    offsets = row_of(view.ask(head_offset.heads), layer, head)
    if offsets is not None:
        yield title("dependence"), signed(offsets["dependence"]), view.say("dependence")
    shares = row_of(view.ask(score_share.heads), layer, head)
    if shares is not None and pd.notna(shares["position"]):
        for part in score_share.PARTS:
            between = interval(shares[f"{part}_low"], shares[f"{part}_high"], percent)
            help = f"{view.say(f'part_{part}_help')} ({between})"
            yield view.say(f"part_{part}"), percent(shares[part]), help


def _planes(view: View, layer: int, head: int, peak: int) -> None:
    """Draw every rotary plane by its wavelength and preferred offset."""
    planes = view.ask(score_sums.planes, layer=layer, head=head)
    frame = planes.assign(period=2 * np.pi / planes["frequency"])
    shown = frame.dropna(subset=["preferred_offset", "coherence"])
    if shown.empty:
        return view.nothing("no_planes")
    strongest = shown.nlargest(1, "strength").iloc[0]
    period, longest = strongest["period"], int(view.ask(sequence_lengths)["n_tokens"].max())
    view.finding(
        view.say(
            f"finding_planes{'_long' if period > longest else ''}",
            n=int((shown["coherence"] >= _COHERENT).sum()),
            planes=len(frame),
            least=_COHERENT,
            period=f"{period:.1f}" if period < 10 else count(round(period)),
            longest=count(longest),
            offset=change(strongest["preferred_offset"], digits=1),
            coherence=f"{strongest['coherence']:.2f}",
            share=percent(strongest["strength"] / shown["strength"].sum()),
        )
    )
    view.figure(
        "planes", frame, _plane_chart(shown, peak), state=f"{layer}_{head}", peak=offset_label(peak)
    )
    columns = {"plane": "%d", "period": "%.1f", "preferred_offset": "%.2f"}
    view.table("plane_table", frame, columns | {"strength": "%.3g", "coherence": "%.2f"})


def _plane_chart(planes: pd.DataFrame, peak: int) -> Any:
    """Draw planes as dots sized by strength; a dashed line marks the peak of their sum."""
    furthest = max(float(planes["preferred_offset"].abs().max()), abs(peak), 1.0)
    ticks = [0, *(tick for tick in _TENS if abs(tick) <= furthest)]
    y = alt.Y(
        "preferred_offset:Q",
        title=title("preferred_offset"),
        scale=alt.Scale(type="symlog", constant=1, domain=[-furthest * 1.6, furthest * 1.6]),
        axis=offset_axis(values=ticks, grid=True),
    )
    dots = Chart(planes).encode(
        x=alt.X(
            "period:Q",
            title=title("period"),
            scale=alt.Scale(type="log"),
            axis=alt.Axis(format="~s", tickCount=6),
        ),
        y=y,
        size=alt.Size(
            "strength:Q",
            title=title("strength"),
            scale=alt.Scale(range=[12, 420], zero=True),
            legend=alt.Legend(format=".2~g", tickCount=3, symbolFillColor="#808080"),
        ),
        color=alt.Color(
            "coherence:Q",
            title=title("coherence"),
            scale=alt.Scale(type="linear", scheme="viridis", domain=[0, 1]),
            legend=ramp(".1~f"),
        ),
        tooltip=column_tooltips(
            planes,
            plane="d",
            period=".1f",
            preferred_offset="+.2f",
            strength=".3~g",
            coherence=".2f",
        ),
    )
    marks = dots.mark_circle(opacity=1, stroke="#80808080", strokeWidth=1)
    at = Chart(pd.DataFrame({"peak": [peak]})).encode(y=alt.Y("peak:Q"))
    rule = at.mark_rule(color=MARKED, strokeWidth=1.6, strokeDash=[6, 4], tooltip=False)
    return layered(rule, marks, height=360)
