"""Waves of queries and keys along a text, and the planes of models that turn them."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.charts.chart_theme import Chart, column_tooltips, layered, ramp, with_axes
from pages.charts.colours import ATTENTION_COLOUR, MARKED, SCORE_COLOUR
from pages.charts.encodings import offset_axis
from pages.charts.plots import Lines
from pages.head import phases, scores
from pages.kit.section import Choices, Figure, of_head, rows_of
from pages.kit.view import View
from pages.services.inquiry import Inquiry
from pages.words.columns import title
from pages.words.numbers import change, count, offset_label
from pages.words.scope import say_here

_TENS = [sign * 10**power for sign in (-1, 1) for power in range(6)]
_COHERENT = 0.5
SIDES = {"query": ATTENTION_COLOUR, "key": SCORE_COLOUR}
_SMALL, _COLUMNS, _WIDTH, _HEIGHT = 6, 3, 222, 90

_WAVES = """
    select rank, value::double as value, unnest(range(len(query)))::int as pos,
        unnest(query)::double as query, unnest(key)::double as key
    from query_key_wave where layer = $layer and head = $head and seq = $text order by rank, pos"""
_PLANES = """
    select plane, frequency, strength, phase, preferred_offset, coherence, n_pairs
    from rotary_plane where layer = $layer and head = $head order by plane"""


def waves(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Query and key along a text in each singular direction; empty if none is stored."""
    if choices["text"] is None:
        return pd.DataFrame()
    return rows_of(_WAVES, inquiry, choices)


def directions(inquiry: Inquiry, choices: Choices) -> dict[int, str]:
    """Singular directions with their values, the strongest first."""
    frame = waves(inquiry, choices)
    if frame.empty:
        return {}
    values = frame.drop_duplicates("rank")[["rank", "value"]].itertuples(index=False)
    return {int(rank): f"{rank} · s = {value:.2f}" for rank, value in values}


def one_direction(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Components of the chosen direction: rank, value, pos, side, component."""
    return _by_side(waves(inquiry, choices), [choices["direction"]])


def strongest(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Components of the strongest directions: rank, value, pos, side, component."""
    return _by_side(waves(inquiry, choices), range(1, _SMALL + 1))


def _by_side(frame: pd.DataFrame, ranks: Any) -> pd.DataFrame:
    if frame.empty:
        return frame
    return frame[frame["rank"].isin(ranks)].melt(
        id_vars=["rank", "value", "pos"],
        value_vars=list(SIDES),
        var_name="side",
        value_name="component",
    )


def small_charts(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw the strongest directions side by side, each with a scale of its own."""
    kind = Lines(x="pos", value="component", colour="side", colours=SIDES, zero=False, points=False)
    charts = []
    for rank, part in frame.groupby("rank"):
        chart = kind.draw(part, name, choices)
        chart.encoding.x.title = chart.encoding.y.title = None
        axes = {"x": alt.Axis(format="d", tickCount=4), "y": alt.Axis(tickCount=3)}
        heading = say_here("waves_small", rank=rank, value=f"{part['value'].iloc[0]:.2f}")
        charts.append(
            with_axes(chart, **axes).properties(title=heading, width=_WIDTH, height=_HEIGHT)
        )
    return alt.concat(*charts, columns=_COLUMNS, spacing=16)


def planes(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rotary planes of a head with their periods in tokens."""
    if not inquiry.store.turns_positions:
        return pd.DataFrame()
    frame = rows_of(_PLANES, inquiry, choices)
    return frame.assign(period=2 * np.pi / frame["frequency"])


def show_planes(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record every rotary plane by its wavelength and preferred offset."""
    shown = frame.dropna(subset=["preferred_offset", "coherence"])
    if shown.empty:
        return view.nothing("no_planes")
    peak, _ = scores.peaks(scores.curves(view, choices))
    view.figure(figure.name, frame, _plane_chart(shown, peak), peak=offset_label(peak))


def found(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Offsets of the largest score and of most attention; then the strongest plane."""
    curves = scores.curves(inquiry, choices)
    if curves.empty:
        return curves
    score, given = scores.peaks(curves)
    agree = "same" if score == given else "other"
    rows = [{"sentence": 1, "name": f"peaks_{agree}"}]
    rows[0] |= {"score": offset_label(score), "attention": offset_label(given)}
    strongest = (_turned if inquiry.store.turns_positions else _shifted)(inquiry, choices)
    return pd.DataFrame([*rows, *({"sentence": 2, **row} for row in strongest)]).assign(
        **of_head(choices)
    )


def _turned(inquiry: Inquiry, choices: Choices) -> list[dict[str, Any]]:
    """Strongest rotary plane, and the number of those that are coherent."""
    frame = planes(inquiry, choices)
    shown = frame.dropna(subset=["preferred_offset", "coherence"])
    if shown.empty:
        return []
    row = shown.nlargest(1, "strength").iloc[0]
    period = row["period"]
    longest = rows_of("select max(n_tokens) as n from sequence", inquiry, {})["n"][0]
    return [
        {
            "name": f"planes{'_long' if period > longest else ''}",
            "n": int((shown["coherence"] >= _COHERENT).sum()),
            "planes": len(frame),
            "least": f"{_COHERENT}",
            "period": f"{period:.1f}" if period < 10 else count(round(period)),
            "longest": count(longest),
            "offset": change(row["preferred_offset"], digits=1),
            "coherence": f"{row['coherence']:.2f}",
        }
    ]


def _shifted(inquiry: Inquiry, choices: Choices) -> list[dict[str, Any]]:
    """Plane that stands out most from its frequency, with the offset that its shift predicts."""
    if not inquiry.store.adds_positions:
        return []
    peak = phases.highest_plane(phases.planes(inquiry, choices))
    return [
        {
            "name": "phase",
            "times": f"{row['relative']:.1f}",
            "period": f"{phases.UNIT / row['frequency']:.3g}",
            "phase": change(row["phase"]),
            "offset": change(-row["shift"], digits=1),
        }
        for row in peak.to_dict("records")
    ]


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
