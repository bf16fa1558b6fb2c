"""Map of a sequence: a cell per pair of tokens for the share of one in the other."""

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.charts.chart_theme import (
    Chart,
    cell_selection,
    layered,
    open_ends,
    ramp_below,
    tooltips,
)
from pages.charts.colours import LESS_TO_MORE, MARKED
from pages.charts.encodings import name_at
from pages.words.columns import title

CELL = "cell"
READABLE = 40  # tokens whose names fit on an axis
_FULL = 560  # pixels to a side of a map with room for these
_EVERY = 20  # on an axis of more
_OVERLAP = 0.6  # pixels that cells are drawn over their edges, so that no gaps show between them
_QUANTILE = 0.995
_SHARES = (0, 0.05, 0.25, 0.5, 1)  # of the scale of shares, named in its legend
_BEND = 0.12  # where the middle of each half of the scale of changes lies


def cells(names: list[str], shares: np.ndarray, places: Any, *, causal: bool) -> pd.DataFrame:
    """A row per cell: target_pos, source_pos, target, source, share.

    In a causal model, cells of later tokens have no share: they are masked.
    """
    target, source = (grid.ravel() for grid in np.meshgrid(places, places, indexing="ij"))
    if causal:
        target, source = (positions[source <= target] for positions in (target, source))
    named = np.array(names, dtype=object)
    of = {"target_pos": target, "source_pos": source}
    of |= {"target": named[target], "source": named[source]}
    return pd.DataFrame({**of, "share": shares[target, source].astype(float)})


def pointing(name: str) -> dict[str, alt.Parameter]:
    """Selections, by field, of the row and the column that are pointed at."""
    return {
        field: alt.selection_point(
            name=f"{name}_{field}", fields=[field], on="pointerover", clear="pointerout"
        )
        for field in ("target_pos", "source_pos")
    }


def token_map(
    frame: pd.DataFrame,
    value: str,
    *,
    legend: str,
    heading: str,
    is_change: bool,
    side: int,
    marked: int | None,
    name: str,
    pointed: Mapping[str, alt.Parameter],
) -> Any:
    """Draw a map; pointing at a cell frames its row and its column, and a click gives its row.

    Colours end where all but a few of the cells do, without the diagonal.

    Args:
        frame: a row per cell: target_pos, source_pos, target, source, the value.
        legend: title of the colours, with the unit.
        is_change: whether values go both ways from 0.
        side: of the map, in pixels.
        marked: the position of the token whose row and column stay framed.
        name: of the selection of a click, whose field is target_pos.
        pointed: selections of `pointing`, shared by maps of the same tokens.
    """
    rows = frame.drop_duplicates("target_pos")
    tokens = dict(zip(rows["target_pos"].tolist(), rows["target"].tolist(), strict=True))
    reach, band = reach_of(frame, value), cell_band(len(tokens), side)
    readable = READABLE * side // _FULL
    across = _axis(tokens, angle=-90, readable=readable)
    down = _axis(tokens, angle=0, readable=readable)
    x = alt.X("source_pos:O", title=title("source"), axis=across)
    y = alt.Y("target_pos:O", title=title("target"), axis=down)
    ends = ends_of(frame[value], reach, is_change=is_change)
    scale = (change_scale if is_change else share_scale)(reach)
    ramp = ramp_below(min(220, side - 40), **ends)
    cells = (
        Chart(frame)
        .mark_rect(width=band, height=band, cursor="pointer")
        .encode(
            x=x,
            y=y,
            color=alt.Color(f"{value}:Q", title=legend, scale=scale, legend=ramp),
            tooltip=tooltips({"target": None, "source": None, value: legend}, frame, ".2f"),
        )
        .add_params(cell_selection(name, "target_pos"), *pointed.values())
        .properties(name=f"view_{name}")  # which is otherwise made from all that is in it
    )
    bars = Chart(pd.DataFrame({"target_pos": list(tokens), "source_pos": list(tokens)})).mark_rect(
        filled=False, stroke=MARKED, strokeWidth=1.5, tooltip=False, aria=False
    )
    spans: dict[str, dict[str, Any]] = {
        "target_pos": {"y": y, "x": alt.XValue(0), "x2": alt.X2Value("width")},
        "source_pos": {"x": x, "y": alt.YValue(0), "y2": alt.Y2Value("height")},
    }
    framed = [
        bars.encode(**spans[field]).transform_filter({"param": pointed[field].name, "empty": False})
        for field in spans
    ]
    if marked in tokens:
        framed += [
            bars.encode(**spans[field]).transform_filter(alt.datum[field] == marked)
            for field in spans
        ]
    return layered(cells, *framed, title=heading, width=side, height=side)


def _axis(names: Mapping[int, str], *, angle: int, readable: int) -> alt.Axis:
    """Axis with the names of all tokens if there is room, or else with some positions.

    Args:
        readable: tokens whose names fit.
    """
    all_named, first = len(names) <= readable, min(names, default=0)
    every = range(first, max(names, default=-1) + 1)
    return alt.Axis(
        values=[place for place in names if all_named or not place % _EVERY],
        labelExpr=name_at([names.get(place, "") for place in every], first=first)
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
