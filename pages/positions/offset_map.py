"""All heads as dots in a table of two offsets: on the diagonal the one predicts the other."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.ui.charts.look import tooltips
from pages.ui.words.offsets import PEAK_COLOUR, offset_told
from pages.ui.words.say import say

HEAD = "cell"
"""Name of the selection; what is clicked has fields layer and head."""
_CELL, _AROUND = 44, 70  # heights of a cell and of the axis below, in pixels
_ROOM = 0.84  # of a cell that dots are put into
_LARGEST = 150  # area of a dot, in square pixels
_DIAGONAL = "#2c9c7c"


def offset_map(heads: pd.DataFrame, *, marked: tuple[int, int]) -> Any:
    """The chart; offsets that no head has are left out of both axes.

    Args:
        heads: rows layer, head, dependence, score, attention.
        marked: layer and head of the dot with a ring.
    """
    offsets = sorted({*heads["score"].tolist(), *heads["attention"].tolist()})
    dots = _arranged(heads, offsets)
    size = min((0.8 * _ROOM * _CELL / dots["side"].max()) ** 2, _LARGEST)
    x = _axis("x", offsets, say("positions_head.claim.score_axis"))
    y = _axis("y", offsets, say("positions_head.claim.attention_axis"))
    base = alt.Chart(dots).encode(x=x, y=y)
    pick = alt.selection_point(name=HEAD, fields=["layer", "head"], on="click", empty=False)
    marks = (
        base.mark_circle(size=size, opacity=1, cursor="pointer", stroke="#80808080")
        .encode(color=_colour(), tooltip=tooltips(_titles(), dots, ".2f"))
        .add_params(pick)
    )
    chosen = (alt.datum["layer"] == marked[0]) & (alt.datum["head"] == marked[1])
    ring = base.transform_filter(chosen).mark_point(
        size=size * 2.4, stroke=PEAK_COLOUR, strokeWidth=2.5, fillOpacity=0, aria=False
    )
    layers = [*_ground(len(offsets), x, y), marks, ring]
    return alt.layer(*layers).properties(height=_CELL * max(len(offsets), 5) + _AROUND)


def _axis(name: str, offsets: list[int], title: str) -> Any:
    """Places from 0, one for every offset, under the offset's name."""
    names = [offset_told(each) for each in offsets]
    scale = alt.Scale(domain=[-0.5, len(offsets) - 0.5], nice=False, zero=False)
    axis = alt.Axis(
        values=list(range(len(offsets))),
        labelExpr=f"{names}[datum.value]",
        grid=False,
        ticks=False,
        labelAngle=0,
    )
    encoding = alt.X if name == "x" else alt.Y
    return encoding(f"{name}:Q", title=title, scale=scale, axis=axis)


def _arranged(heads: pd.DataFrame, offsets: list[int]) -> pd.DataFrame:
    """Each head's place in its cell: rows of dots, the most position-dependent first."""
    heads = heads.sort_values("dependence", ascending=False)
    cells = heads.groupby(["score", "attention"])
    place, n = cells.cumcount(), cells["head"].transform("size")
    side = np.ceil(np.sqrt(n))
    across = (place % side + 0.5) / side - 0.5
    down = (place // side + 0.5) / np.ceil(n / side) - 0.5
    place_of = {offset: number for number, offset in enumerate(offsets)}
    return heads.assign(
        x=heads["score"].map(place_of) + _ROOM * across,
        y=heads["attention"].map(place_of) - _ROOM * down,
        side=side,
        n=n,
    )


def _ground(n: int, x: Any, y: Any) -> list[Any]:
    """The cells, those of the diagonal tinted."""
    half = _ROOM / 2 + 0.04
    cells = pd.DataFrame(
        [
            {"x": one - half, "x2": one + half, "y": other - half, "y2": other + half}
            | {"same": one == other}
            for one in range(n)
            for other in range(n)
        ]
    )
    ground = alt.Chart(cells).encode(x=x, y=y, x2="x2", y2="y2")
    same, other = (ground.transform_filter(each) for each in ("datum.same", "!datum.same"))
    return [
        other.mark_rect(color="#808080", opacity=0.07, tooltip=False, aria=False),
        same.mark_rect(color=_DIAGONAL, opacity=0.28, tooltip=False, aria=False),
    ]


def _colour() -> alt.Color:
    scheme = alt.SchemeParams(name="viridis", extent=[0.12, 0.95])
    return alt.Color(
        "dependence:Q",
        title=say("positions_head.dependence_short"),
        scale=alt.Scale(type="sqrt", scheme=scheme, domainMin=0),
        legend=alt.Legend(orient="right", gradientLength=160, format=".2~f"),
    )


def _titles() -> dict[str | None, str | None]:
    return {
        "layer": say("axis.layer"),
        "head": say("axis.head"),
        "score": say("positions_head.claim.score"),
        "attention": say("positions_head.claim.attention"),
        "dependence": say("positions_head.dependence"),
        "n": say("positions_head.claim.same_cell"),
    }
