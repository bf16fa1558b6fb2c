"""Phase shift between queries and keys of a head, by frequency (figure 6)."""

import math
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.charts.chart_theme import Chart, column_tooltips, layered, open_ends, ramp
from pages.charts.colours import MARKED
from pages.drawn.token_map import rounded
from pages.kit.section import Choices, Figure, rows_of
from pages.kit.view import View
from pages.services.inquiry import Inquiry
from pages.words.columns import title
from pages.words.numbers import change, offset_label
from pages.words.scope import say_here

UNIT = 512
"""Unit of frequencies: cycles per 512 tokens."""
HIGHEST = (128, 256)
_BINS = 64  # bins of the phase; each shows its largest plane
_NO_TURN = 1e-3  # radians
_CELLS = 16_000  # above, neighbouring frequencies are drawn together
_SHIFTS = range(-3, 4)
_MARGIN = 0.45  # above and below the phases, for the names of lines
_BESIDE = 1.08  # of the frequencies, so that there is room for names at the right
_QUANTILE = 0.998
_TICKS = 5  # of the legend
_PLACES = {
    "right": {"align": "left", "dx": 5},
    "above": {"align": "right", "dy": -9},
    "below": {"align": "right", "dy": 11},
}
_PHASES = (
    "datum.value == 0 ? '0' : abs(datum.value) > 3 ? (datum.value > 0 ? 'π' : '−π') : "
    "(datum.value > 0 ? 'π/2' : '−π/2')"
)

_AMPLITUDES = f"""
    with unfolded as (
        select plane, phase, length, unnest(range(len(amplitude))) as k,
            unnest(amplitude)::double as amplitude
        from sequence_query_key_phase where layer = $layer and head = $head
            and length = (select max(length) from sequence_query_key_phase))
    select plane, phase, {UNIT} * k / length::double as frequency, avg(amplitude) as amplitude,
        length, count(*) as n_sequences
    from unfolded where k > 0 group by plane, phase, k, length order by plane, frequency"""
"""Means over the longest of the kept texts."""


def planes(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Amplitudes of all planes of a head by frequency and phase, also relative to the frequency."""
    return relative(rows_of(_AMPLITUDES, inquiry, choices))


def show(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the largest amplitudes over frequency and phase."""
    measure, highest = choices["amplitude"], choices["frequency"]
    drawn = frame[frame["frequency"] <= highest]
    shown = binned(drawn, measure)
    view.figure(
        figure.name,
        shown,
        _chart(shown, measure, highest_plane(drawn), highest=highest),
        n=int(frame["n_sequences"].iloc[0]),
        length=int(frame["length"].iloc[0]),
    )


def relative(frame: pd.DataFrame) -> pd.DataFrame:
    """Divide each amplitude by the mean of all planes at its frequency."""
    mean = frame.groupby("frequency")["amplitude"].transform("mean")
    return frame.assign(relative=frame["amplitude"] / mean.where(mean > 0))


def highest_plane(frame: pd.DataFrame) -> pd.DataFrame:
    """Plane that stands out most from the mean of its frequency, with its shift in tokens.

    Args:
        frame: rows frequency, phase, relative.

    Returns:
        One row: frequency, phase, relative, shift Δ; none if no plane has an amplitude.
    """
    has_sign = frame["phase"].abs() < np.pi - _NO_TURN  # half a turn is one to either side
    row = frame[has_sign].dropna(subset="relative").nlargest(1, "relative")
    shift = UNIT * row["phase"] / (2 * np.pi * row["frequency"])
    return row.assign(shift=shift)[["frequency", "phase", "relative", "shift"]]


def binned(frame: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Largest value in every bin of phase and frequency, with the edges of the bins."""
    frequencies = np.sort(frame["frequency"].unique())
    step = float(frequencies[0]) if len(frequencies) == 1 else float(np.diff(frequencies).min())
    together = int(np.ceil(len(frequencies) * _BINS / _CELLS))
    wide = step * together
    column = ((frame["frequency"] - frequencies[0]) // wide).astype("int64")
    height = 2 * np.pi / _BINS
    row = ((frame["phase"] + np.pi) // height).clip(0, _BINS - 1).astype("int64")
    cells = frame.assign(column=column, row=row).groupby(["column", "row"], as_index=False)
    largest = cells.agg(**{measure: (measure, "max"), "planes": ("phase", "nunique")})
    start = frequencies[0] - step / 2 + wide * largest["column"]
    low = -np.pi + height * largest["row"]
    return largest.assign(
        x=start, x2=start + wide, y=low, y2=low + height, frequency=start + wide / 2
    ).dropna(subset=measure)


def _chart(cells: pd.DataFrame, measure: str, peak: pd.DataFrame, *, highest: float) -> Any:
    """Draw amplitude as colour over frequency and phase, with lines of constant shift.

    The highest plane is ringed and named.
    """
    end = max(float(highest), float(cells["x2"].max()))
    x = alt.X(
        "x:Q",
        title=title("frequency"),
        scale=alt.Scale(domain=[0, end * _BESIDE], nice=False),
        axis=alt.Axis(values=list(range(0, int(end) + 1, int(highest / 8))), grid=False),
    )
    quarters = [-math.pi, -math.pi / 2, 0, math.pi / 2, math.pi]
    y = alt.Y(
        "y:Q",
        title=title("phase"),
        scale=alt.Scale(domain=[-math.pi - _MARGIN, math.pi + _MARGIN], nice=False),
        axis=alt.Axis(values=quarters, labelExpr=_PHASES, grid=False),
    )
    formats = {"frequency": ".0f", "y": ".2f", "y2": ".2f", measure: ".3~g", "planes": "d"}
    scale, places = _scale(cells[measure], measure)
    legend = ramp(".2~g", **open_ends(cells[measure], places, ".2~g"))
    colour = alt.Color(f"{measure}:Q", title=title(measure), scale=scale, legend=legend)
    tooltip = column_tooltips(cells, **formats)
    marks = Chart(cells).mark_rect()
    marks = marks.encode(x=x, x2=alt.X2("x2"), y=y, y2=alt.Y2("y2"), color=colour, tooltip=tooltip)
    return layered(marks, *_lines(end), *_ring(peak), height=460)


def _ring(peak: pd.DataFrame) -> list[Any]:
    """Draw a ring around the highest plane, with its multiple of the mean."""
    if peak.empty:
        return []
    values = zip(peak["relative"], peak["shift"], strict=True)
    labels = [
        say_here("phases_label", times=f"{ratio:.1f}", shift=change(shift, digits=1))
        for ratio, shift in values
    ]
    base = Chart(peak.assign(label=labels)).encode(x=alt.X("frequency:Q"), y=alt.Y("phase:Q"))
    ring = base.mark_point(size=260, stroke=MARKED, strokeWidth=2.5, fillOpacity=0, tooltip=False)
    label = base.mark_text(dy=-20, fontSize=12, fontWeight="bold", tooltip=False)
    return [ring, label.encode(text=alt.Text("label:N"))]


def _scale(values: pd.Series, measure: str) -> tuple[alt.Scale, list[float]]:
    """Colour scale that ends below a few outliers, with the labels of its legend."""
    top = rounded(float(values.quantile(_QUANTILE))) or 1.0
    if measure == "relative":
        kind, ends = "linear", [0.0, max(top, 1.0)]
        places = np.linspace(ends[0], ends[1], _TICKS)
    else:
        positive = values[values > 0]
        low = rounded(float(positive.quantile(0.02))) if len(positive) else top / 100
        kind, ends = "log", [min(low, top / 10), top]
        places = np.geomspace(ends[0], ends[1], _TICKS)
    scale = alt.Scale(type=kind, scheme="viridis", domain=ends, clamp=True)
    return scale, [ends[0], *places[1:-1].tolist(), ends[1]]


def _lines(highest: float) -> list[Any]:
    """Draw θ = 2π f Δ / 512 within the range of phases, with Δ at its end."""
    rows = []
    for shift in _SHIFTS:
        end = min(highest, UNIT / 2 / max(abs(shift), 1))
        beyond = "above" if shift > 0 else "below"
        at_right = "right" if end == highest else ""
        place = beyond if 2 * abs(shift) * end >= UNIT else at_right
        label = f"Δ = {offset_label(shift)}"
        for f, at in ((0.0, ""), (end, place)):
            y_of = 2 * math.pi * f * shift / UNIT
            rows.append({"x": f, "y": y_of, "shift": shift, "label": label, "place": at})
    frame = pd.DataFrame(rows)
    base = Chart(frame).encode(x=alt.X("x:Q"), y=alt.Y("y:Q"))
    lines = base.mark_line(color=MARKED, strokeWidth=1.6, strokeDash=[6, 4], tooltip=False)
    text = {"fontSize": 12, "fontWeight": "bold"}
    labels = [
        base.transform_filter(alt.datum["place"] == place)
        .encode(text=alt.Text("label:N"))
        .mark_text(**text, **where)
        for place, where in _PLACES.items()
    ]
    return [lines.encode(detail=alt.Detail("shift:N")), *labels]
