"""Amplitude spectra as lines or as maps over layers, with a second axis of periods in tokens."""

from collections.abc import Callable, Mapping
from typing import Any

import altair as alt
import pandas as pd

from pages.positions.spectra.peaks import UNIT
from pages.ui.charts.chart_theme import Chart, coloured, column_tooltips, layered, ramp
from pages.ui.charts.colours import CONTROL_COLOURS, LESS_TO_MORE
from pages.ui.charts.number_map import Ramp
from pages.ui.words.columns import title
from pages.ui.words.scope import say_here

SOURCES = ("hidden", "query", "key")
SCALES = ("linear", "log")
_WIDTH = 700  # of panels below each other, with room for a legend beside them
_PERIODS = [256, 64, 32, 16, 10, 8, 6, 5, 4, 3, 2]
_CELL = 18
_WIDEST = 64.0  # largest ratio, or its inverse, of the scale of ratios
_SMALL = ".3~g"


def span(frame: pd.DataFrame) -> tuple[float, float]:
    """Lowest and highest frequency; an octave to either side of a single frequency."""
    low, high = float(frame["frequency"].min()), float(frame["frequency"].max())
    return (low, high) if low < high else (low / 2, high * 2)


def spectrum_chart(frame: pd.DataFrame, y: str, *, height: int = 430, **options: Any) -> Any:
    """Draw `spectrum_lines`, with its options, and an axis of periods above."""
    domain = span(frame)
    drawn = spectrum_lines(frame, y, frequencies(domain), **options)
    return with_periods(drawn, domain).properties(height=height)


def spectrum_lines(
    frame: pd.DataFrame,
    y: str,
    x: alt.X,
    *,
    scale: str,
    colours: Mapping[str, str] | str,
    band: pd.Series | None = None,
) -> Any:
    """Draw one line over frequencies for every name in the column `name`.

    Args:
        scale: of amplitudes, `linear` or `log`.
        colours: of the names, or the colour of the one line that there is.
        band: the rows whose quartiles, q25 and q75, are drawn.
    """
    shown, encoding = frame, alt.ColorValue(colours)
    if not isinstance(colours, str):
        shown, encoding, _ = coloured(frame, "name", " ", colours)
    columns = ("name", "frequency", "period", y, "q25", "q75")
    formats = {name: _SMALL for name in columns if name in shown}
    height = alt.Scale(type="log", nice=False) if scale == "log" else alt.Scale(zero=True)
    axis = alt.Y(f"{y}:Q", title=title(y), scale=height, axis=alt.Axis(tickCount=5, format=_SMALL))
    base = Chart(shown).encode(
        x=x, y=axis, color=encoding, tooltip=column_tooltips(shown, **formats)
    )
    # invisible points with tooltips
    hits = base.mark_point(size=60, opacity=0, filled=True)
    parts = [base.mark_line(strokeWidth=1.6), hits]
    if band is not None and band.any():
        low = alt.Y("q25:Q", title=title(y), scale=height)
        area = Chart(shown[band]).mark_area(opacity=0.22, clip=True)
        parts.insert(0, area.encode(x=x, y=low, y2=alt.Y2("q75"), color=encoding))
    return layered(*parts)


def below_each_other(
    parts: Mapping[str, pd.DataFrame],
    draw: Callable[[pd.DataFrame, alt.X], Any],
    domain: tuple[float, float],
    *,
    height: int,
) -> Any:
    """Stack a chart of every part under its name, over one axis of frequencies.

    The axis of periods stands above the first chart, the title of the axis below the last.
    """
    first, *_, last = (*parts, *parts)
    drawn = []
    for name, part in parts.items():
        chart = draw(part, frequencies(domain, titled=name == last))
        chart = with_periods(chart, domain) if name == first else chart
        drawn.append(chart.properties(title=name, height=height, width=_WIDTH))
    return alt.concat(*drawn, columns=1, spacing=16)


def by_source(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Split rows by source, under display names, in the order of drawing."""
    parts = {say_here(f"source_{source}"): frame[frame["source"] == source] for source in SOURCES}
    return {name: part.assign(name=name) for name, part in parts.items() if len(part)}


def layer_chart(frame: pd.DataFrame, scale: str) -> Any:
    """Draw a panel per source with a line per control."""
    names = {control: say_here(f"control_{control}") for control in dict.fromkeys(frame["control"])}
    colours = {name: CONTROL_COLOURS[control] for control, name in names.items()}

    def lines(part: pd.DataFrame, x: alt.X) -> Any:
        named = part.assign(name=part["control"].map(names))
        return spectrum_lines(named, "amplitude", x, scale=scale, colours=colours)

    return below_each_other(by_source(frame), lines, span(frame), height=150)


def frequencies(domain: tuple[float, float], *, titled: bool = True) -> alt.X:
    """Axis of frequencies."""
    return alt.X(
        "frequency:Q",
        title=title("frequency") if titled else None,
        scale=alt.Scale(domain=list(domain), nice=False),
        axis=alt.Axis(format="d", labelAngle=0, tickCount=10),
    )


def with_periods(chart: Any, domain: tuple[float, float]) -> Any:
    """Add an axis of periods, in tokens, above the chart."""
    axis = alt.Axis(
        orient="top",
        values=[UNIT / period for period in _PERIODS if domain[0] <= UNIT / period <= domain[1]],
        labelExpr=f"format({UNIT} / datum.value, 'd')",
        grid=False,
        labelAngle=0,
        labelOverlap="greedy",
        titlePadding=6,
    )
    scale = alt.Scale(domain=list(domain), nice=False)
    x = alt.X("x:Q", title=say_here("period_axis"), scale=scale, axis=axis)
    ends = Chart(pd.DataFrame({"x": list(domain)}))
    axis_alone = ends.mark_point(opacity=0, size=0).encode(x=x)
    return layered(chart, axis_alone).resolve_axis(x="independent")


def with_edges(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the edges of each cell, half a step to either side in frequency."""
    step = frame["frequency"].min()
    return frame.assign(left=frame["frequency"] - step / 2, right=frame["frequency"] + step / 2)


def amplitude_maps(frame: pd.DataFrame) -> Any:
    """Draw the amplitude of every layer and frequency on one logarithmic scale of colours."""
    scale = alt.Scale(type="log", scheme="viridis")
    colour = alt.Color("amplitude:Q", title=title("amplitude"), scale=scale, legend=ramp(".2~g"))
    return _maps(frame[frame["amplitude"] > 0], "amplitude", colour)


def ratio_maps(frame: pd.DataFrame) -> Any:
    """Draw the ratio to the amplitude without positions; 1 is the pale middle of the colours."""
    ratio = frame["ratio"]
    widest = min(max(float(ratio.max()), 1 / float(ratio.min()), 2.0), _WIDEST)
    colours = Ramp(LESS_TO_MORE, 1 / widest, widest, log=True)
    return _maps(frame, "ratio", colours.colour(ratio, title("ratio")))


def _maps(frame: pd.DataFrame, value: str, colour: alt.Color) -> Any:
    """Draw one map per source, from rows with cell edges."""

    def cells(part: pd.DataFrame, x: alt.X) -> alt.Chart:
        x.shorthand = "left:Q"
        formats = {"name": "", "layer": "d"} | dict.fromkeys(("frequency", "period", value), _SMALL)
        y = alt.Y("layer:O", title=title("layer"), axis=alt.Axis(labelOverlap=False))
        tooltip = column_tooltips(part, **formats)
        marks = Chart(part).mark_rect()
        return marks.encode(x=x, x2=alt.X2("right"), y=y, color=colour, tooltip=tooltip)

    height = _CELL * max(frame["layer"].nunique(), 2)
    domain = (float(frame["left"].min()), float(frame["right"].max()))
    maps = below_each_other(by_source(frame), cells, domain, height=height)
    return maps.resolve_scale(color="shared")
