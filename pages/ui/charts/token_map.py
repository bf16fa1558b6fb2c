"""Map of a sequence: a cell per pair of tokens for the share of one in the other."""

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.chart_theme import (
    Chart,
    cell_selection,
    layered,
    open_ends,
    ramp_below,
    tooltips,
)
from pages.ui.charts.colours import LESS_TO_MORE, MARKED
from pages.ui.charts.encodings import name_at
from pages.ui.words.columns import title

CELL = "cell"
READABLE = 40  # tokens whose names fit on an axis
_EVERY = 20  # on an axis of more
_OVERLAP = 0.6  # pixels that cells are drawn over their edges, so that no gaps show between them
_QUANTILE = 0.995
_SHARES = (0, 0.05, 0.25, 0.5, 1)  # of the scale of shares, named in its legend
_BEND = 0.12  # where the middle of each half of the scale of changes lies


def token_map(
    frame: pd.DataFrame,
    value: str,
    *,
    names: Mapping[int, str],
    legend: str,
    is_change: bool,
    side: int,
    marked: int | None,
) -> Any:
    """Draw the map; a click returns `event["selection"][CELL][0]["target_pos"]`.

    Colours end where all but a few of the cells do, without the diagonal.

    Args:
        frame: a row per cell: target_pos, source_pos, target, source, the value.
        names: of the tokens by their positions.
        legend: title of the colours, with the unit.
        is_change: whether values go both ways from 0.
        side: of the map, in pixels.
        marked: the position of the token whose row and column are framed.
    """
    n, reach = len(names), reach_of(frame, value)
    band = cell_band(n, side)
    base = Chart(frame).encode(
        x=alt.X("source_pos:O", title=title("source"), axis=_axis(names, angle=-90)),
        y=alt.Y("target_pos:O", title=title("target"), axis=_axis(names, angle=0)),
    )
    cells = (
        base.mark_rect(width=band, height=band, cursor="pointer")
        .encode(
            color=alt.Color(
                f"{value}:Q",
                title=legend,
                scale=(change_scale if is_change else share_scale)(reach),
                legend=ramp_below(220, **ends_of(frame[value], reach, is_change=is_change)),
            ),
            tooltip=tooltips({"target": None, "source": None, value: legend}, frame, ".2f"),
        )
        .add_params(cell_selection(CELL, "target_pos"))
    )
    if marked is None:
        return cells.properties(height=side)
    rows = Chart(pd.DataFrame({"target_pos": [marked], "source_pos": [marked]}))
    ring = rows.mark_rect(filled=False, stroke=MARKED, strokeWidth=2, tooltip=False)
    row = ring.encode(y=alt.Y("target_pos:O"), x=alt.XValue(0), x2=alt.X2Value("width"))
    column = ring.encode(x=alt.X("source_pos:O"), y=alt.YValue(0), y2=alt.Y2Value("height"))
    return layered(cells, row, column, height=side)


def _axis(names: Mapping[int, str], *, angle: int) -> alt.Axis:
    """Axis with the names of all tokens if there is room, or else with some positions."""
    all_named = len(names) <= READABLE
    return alt.Axis(
        values=[place for place in names if all_named or not place % _EVERY],
        labelExpr=name_at([*names.values()], first=min(names, default=0))
        if all_named
        else "datum.label",
        labelAngle=angle if all_named else 0,
        labelLimit=90,
        labelFontSize=11 if all_named else 12,
        labelOverlap=False,
        ticks=False,
    )


def reach_of(frame: pd.DataFrame, *values: str) -> float:
    """End of the colour scale: a high quantile of absolute values off the diagonal."""
    others = frame.loc[frame["target_pos"] != frame["source_pos"], list(values)]
    return rounded(float(others.abs().max(axis=1).quantile(_QUANTILE))) or 1.0


def rounded(reach: float) -> float:
    """Round the end of a scale up to two significant digits."""
    if not reach:
        return 0.0
    digit = 10.0 ** (math.floor(math.log10(reach)) - 1)
    return float(f"{math.ceil(round(reach / digit, 9)) * digit:.2g}")


def ends_of(values: pd.Series, reach: float, *, is_change: bool) -> dict[str, Any]:
    """Legend options of `share_scale` or `change_scale` if some cells lie beyond its ends."""
    places = (-1, -_BEND, 0, _BEND, 1) if is_change else _SHARES
    return open_ends(values, [place * reach for place in places], ".2~g")


def share_scale(reach: float) -> alt.Scale:
    """Colour scale of shares, finer for small ones."""
    return alt.Scale(type="sqrt", scheme="viridis", domain=[0, reach], clamp=True)


def change_scale(reach: float) -> alt.Scale:
    """Colour scale of changes around 0, finer for small ones."""
    stops = [-reach, -_BEND * reach, 0, _BEND * reach, reach]
    return alt.Scale(domain=stops, range=list(LESS_TO_MORE), clamp=True, interpolate="rgb")


def cell_band(n: int, side: float) -> dict[str, float]:
    """Size of the cells of `n` to a side, slightly overlapping so that no gaps show."""
    return {"band": 1 + _OVERLAP * n / side}
