"""Layers down, heads across: each cell the shares of its clusters, or its mean profile.

Both charts place their marks by numbers instead of facets: 144 heads are then one drawing.
"""

import math
from typing import Any

import altair as alt
import pandas as pd

from analysis.tables.positions.head_offset import REACH
from pages.ui.charts.look import cell_selection
from pages.ui.words.offsets import PEAK_COLOUR
from pages.ui.words.say import say

HEAD = "cell"
"""Name of the selections; what is clicked has fields layer and head."""
_COLUMNS = 4  # of the legend
_ROOM = 0.88  # of a cell that is drawn in
_AROUND, _LEGEND = 64, 24  # pixels for the axis with its title, and for a row of the legend


def share_grid(shares: pd.DataFrame, *, names: dict[str, str], marked: tuple[int, int]) -> Any:
    """A stacked bar in every cell: which share of the texts falls to which cluster.

    Args:
        shares: rows layer, head, cluster, share, name.
        names: colour of every cluster by its name, in the order of the bars.
    """
    order = {name: place for place, name in enumerate(names)}
    shown = shares.assign(place=shares["name"].map(order)).sort_values(["layer", "head", "place"])
    end = shown.groupby(["layer", "head"])["share"].cumsum()
    left = shown["head"] - _ROOM / 2
    shown = shown.assign(
        x=left + _ROOM * (end - shown["share"]),
        x2=left + _ROOM * end,
        y=shown["layer"] - _ROOM / 2,
        y2=shown["layer"] + _ROOM / 2,
    )
    bars = (
        _base(shown)
        .mark_rect(cursor="pointer")
        .encode(
            x2="x2",
            y2="y2",
            color=alt.Color(
                "name:N",
                title=" ",
                scale=alt.Scale(domain=list(names), range=list(names.values())),
                legend=alt.Legend(
                    orient="top", symbolType="square", labelLimit=0, columns=_COLUMNS
                ),
            ),
            tooltip=[
                alt.Tooltip("layer:Q", title=say("axis.layer")),
                alt.Tooltip("head:Q", title=say("axis.head")),
                alt.Tooltip("name:N", title=say("positions_head.cluster.cluster")),
                alt.Tooltip("share:Q", title=say("positions_head.heads.share"), format=".0%"),
            ],
        )
    )
    parts = [bars.add_params(cell_selection(HEAD, "layer", "head")), _ring(shown, marked)]
    return alt.layer(*parts).properties(
        height=_height(shown, 30) + _LEGEND * math.ceil(len(names) / _COLUMNS)
    )


def profile_grid(
    profiles: pd.DataFrame, *, names: dict[str, str], marked: tuple[int, int], own_scale: bool
) -> Any:
    """A small area chart in every cell: mean attention over offsets.

    Args:
        profiles: rows layer, head, offset, attention, name of the head's cluster.
        names: colour of every cluster by its name.
        own_scale: whether every cell reaches its full height, else only the highest of all.
    """
    top = profiles.groupby(["layer", "head"])["attention"].transform("max")
    top = top if own_scale else profiles["attention"].max()
    shown = profiles.assign(
        x=profiles["head"] + _ROOM * profiles["offset"] / (2 * REACH + 1),
        y=profiles["layer"] + _ROOM / 2 - _ROOM * profiles["attention"] / top,
        y2=profiles["layer"] + _ROOM / 2,
    )
    colour = alt.Color(
        "name:N",
        scale=alt.Scale(domain=list(names), range=list(names.values())),
        legend=None,
    )
    heads = _cells(shown)
    ground = _base(heads).mark_rect(color="#808080", opacity=0.09, aria=False)
    middle = (
        _base(heads.assign(x=heads["head"]))
        .mark_rule(color="#808080", opacity=0.35, strokeWidth=1, aria=False)
        .encode(y2="y2")
    )
    areas = (
        _base(shown)
        .mark_area(interpolate="step", aria=False)
        .encode(y2="y2", color=colour, detail=["layer:N", "head:N"])
    )
    cover = (
        _base(heads)
        .mark_rect(opacity=0, cursor="pointer")
        .encode(
            x2="x2",
            y2="y2",
            tooltip=[
                alt.Tooltip("layer:Q", title=say("axis.layer")),
                alt.Tooltip("head:Q", title=say("axis.head")),
                alt.Tooltip("name:N", title=say("positions_head.cluster.cluster")),
                alt.Tooltip("peak:Q", title=say("positions_head.heads.peak"), format="+d"),
                alt.Tooltip("top:Q", title=say("positions_head.heads.top"), format=".0%"),
            ],
        )
        .add_params(cell_selection(HEAD, "layer", "head"))
    )
    parts = [ground.encode(x2="x2", y2="y2"), middle, areas, _ring(heads, marked), cover]
    return alt.layer(*parts).properties(height=_height(shown, 42))


def _cells(shown: pd.DataFrame) -> pd.DataFrame:
    """One row per head with the edges of its cell and its highest offset."""
    peaks = shown.loc[shown.groupby(["layer", "head"])["attention"].idxmax()]
    return pd.DataFrame(
        {
            "layer": peaks["layer"],
            "head": peaks["head"],
            "name": peaks["name"],
            "peak": peaks["offset"],
            "top": peaks["attention"],
            "x": peaks["head"] - _ROOM / 2 - 0.02,
            "x2": peaks["head"] + _ROOM / 2 + 0.02,
            "y": peaks["layer"] - _ROOM / 2 - 0.02,
            "y2": peaks["layer"] + _ROOM / 2 + 0.02,
        }
    )


def _base(shown: pd.DataFrame) -> alt.Chart:
    return alt.Chart(shown).encode(**_axes(shown))


def _axes(shown: pd.DataFrame) -> dict[str, Any]:
    """Heads across and layers down, in cells around whole numbers."""
    heads, layers = (sorted(shown[each].unique().tolist()) for each in ("head", "layer"))
    axis: dict[str, Any] = {"grid": False, "labelAngle": 0, "labelOverlap": False, "format": "d"}
    axis |= {"ticks": False, "domain": False}
    x = alt.X(
        "x:Q",
        title=say("axis.head"),
        scale=alt.Scale(domain=[heads[0] - 0.5, heads[-1] + 0.5], nice=False, zero=False),
        axis=alt.Axis(values=heads, **axis),
    )
    y = alt.Y(
        "y:Q",
        title=say("axis.layer"),
        scale=alt.Scale(
            domain=[layers[0] - 0.5, layers[-1] + 0.5], nice=False, zero=False, reverse=True
        ),
        axis=alt.Axis(values=layers, **axis),
    )
    return {"x": x, "y": y}


def _ring(shown: pd.DataFrame, marked: tuple[int, int]) -> alt.Chart:
    """A frame around the cell of one head."""
    layer, head = marked
    cell = pd.DataFrame(
        {"x": [head - 0.47], "x2": [head + 0.47], "y": [layer - 0.47], "y2": [layer + 0.47]}
    )
    ring = alt.Chart(cell).mark_rect(filled=False, stroke=PEAK_COLOUR, strokeWidth=2.5, aria=False)
    return ring.encode(**_axes(shown), x2="x2", y2="y2")


def _height(shown: pd.DataFrame, cell: int) -> int:
    return cell * max(shown["layer"].nunique(), 4) + _AROUND
