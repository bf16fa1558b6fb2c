"""Grids of layers by heads: shares of clusters, or a mean profile, in each cell.

Both charts place their marks by numbers instead of facets: 144 heads are then one drawing.
"""

import math
from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.positions.attention import REACH
from pages.charts.chart_theme import (
    Chart,
    cell_selection,
    column_tooltips,
    layered,
    ramp,
    rows_height,
)
from pages.charts.colours import MARKED, NEUTRAL
from pages.charts.encodings import named
from pages.kit.section import Choices
from pages.positions.clusters import cluster_colours
from pages.words.columns import title

_COLUMNS = 4  # of the legend
_LEAST = 18  # pixels of a row
_ROOM = 0.88  # of a cell that is drawn in
_AROUND, _LEGEND = 64, 24  # pixels for the axis with its title, and for a row of the legend
_HEAD = ["layer", "head"]
_SCHEME = alt.SchemeParams(name="viridis", extent=[0.12, 0.95])


def share_grid(shares: pd.DataFrame, _: str, choices: Choices) -> Any:
    """Draw a stacked bar in every cell: the share of texts in each cluster.

    Args:
        shares: rows layer, head, cluster, name, share.
    """
    colours = cluster_colours(shares)
    place = shares["name"].map({name: place for place, name in enumerate(colours)})
    shown = shares.assign(place=place).sort_values([*_HEAD, "place"])
    end = shown.groupby(_HEAD)["share"].cumsum()
    shown = _edges(shown, _ROOM / 2)
    left = shown["x"]
    shown = shown.assign(x=left + _ROOM * (end - shown["share"]), x2=left + _ROOM * end)
    colour = named("name", colours, symbolType="square", columns=_COLUMNS)
    tooltip = column_tooltips(shown, layer="d", head="d", name="", share=".0%")
    bars = _cells(shown).mark_rect(cursor="pointer").encode(color=colour, tooltip=tooltip)
    height = _height(shown, 30) + _LEGEND * math.ceil(len(colours) / _COLUMNS)
    parts = [bars.add_params(cell_selection("cell", *_HEAD)), _ring(shown, choices)]
    return layered(*parts, height=height)


def profile_grid(profiles: pd.DataFrame, _: str, choices: Choices) -> Any:
    """Draw a small area chart in every cell, mean attention over offsets, coloured by dependence.

    Every cell reaches its full height, or only the highest of all if that is chosen.

    Args:
        profiles: rows layer, head, offset, attention, dependence.
    """
    by_head = profiles.groupby(_HEAD)["attention"]
    own = choices["height"] == "own"
    top = by_head.transform("max") if own else profiles["attention"].max()
    bottom = profiles["layer"] + _ROOM / 2
    x = profiles["head"] + _ROOM * profiles["offset"] / (2 * REACH + 1)
    shown = profiles.assign(x=x, y=bottom - _ROOM * profiles["attention"] / top, y2=bottom)
    heads = profiles.loc[by_head.idxmax()].rename(columns={"offset": "peak", "attention": "top"})
    heads = _edges(heads, _ROOM / 2 + 0.02)
    colour = alt.Color(
        "dependence:Q",
        title=title("dependence"),
        scale=alt.Scale(type="sqrt", scheme=_SCHEME, domain=[0, 1]),
        legend=ramp(".2~f"),
    )
    of_head = [alt.Detail(f"{column}:N") for column in _HEAD]
    tooltip = column_tooltips(heads, layer="d", head="d", dependence=".2f", peak="+d", top=".0%")
    middle = _base(heads.assign(x=heads["head"])).encode(y2=alt.Y2("y2"))
    cover = _cells(heads).mark_rect(opacity=0, cursor="pointer")
    parts = [
        _cells(heads).mark_rect(color=NEUTRAL, opacity=0.09, aria=False),
        middle.mark_rule(color=NEUTRAL, opacity=0.35, strokeWidth=1, aria=False),
        _base(shown)
        .mark_area(interpolate="step", aria=False)
        .encode(y2=alt.Y2("y2"), color=colour, detail=of_head),
        _ring(heads, choices),
        cover.encode(tooltip=tooltip).add_params(cell_selection("cell", *_HEAD)),
    ]
    return layered(*parts, height=_height(shown, 42))


def _edges(heads: pd.DataFrame, half: float) -> pd.DataFrame:
    """Add the edges of each cell, `half` from its centre."""
    head, layer = heads["head"], heads["layer"]
    return heads.assign(x=head - half, x2=head + half, y=layer - half, y2=layer + half)


def _base(shown: pd.DataFrame) -> alt.Chart:
    """Chart with heads across and layers down, in cells around whole numbers."""
    x, y = alt.X("x:Q", **_axis(shown, "head")), alt.Y("y:Q", **_axis(shown, "layer"))
    return Chart(shown).encode(x=x, y=y)


def _cells(shown: pd.DataFrame) -> alt.Chart:
    return _base(shown).encode(x2=alt.X2("x2"), y2=alt.Y2("y2"))


def _axis(shown: pd.DataFrame, column: str) -> dict[str, Any]:
    values = sorted(shown[column].unique().tolist())
    domain = [values[0] - 0.5, values[-1] + 0.5]
    plain: dict[str, Any] = {"grid": False, "ticks": False, "domain": False}
    return {
        "title": title(column),
        "scale": alt.Scale(domain=domain, nice=False, zero=False, reverse=column == "layer"),
        "axis": alt.Axis(values=values, labelAngle=0, labelOverlap=False, format="d", **plain),
    }


def _ring(shown: pd.DataFrame, choices: Choices) -> alt.Chart:
    """Frame around the cell of the chosen head."""
    cell = _edges(pd.DataFrame([[choices[name] for name in _HEAD]], columns=_HEAD), 0.47)
    ring = _cells(shown).mark_rect(filled=False, stroke=MARKED, strokeWidth=2.5, aria=False)
    return ring.properties(data=cell)


def _height(shown: pd.DataFrame, cell: int) -> int:
    n_rows = shown["layer"].max() - shown["layer"].min() + 1
    return rows_height(max(int(n_rows), 4), cell, least=_LEAST) + _AROUND
