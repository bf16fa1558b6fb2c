"""All heads as dots in a table of two offsets: on the diagonal the one predicts the other."""

from itertools import product
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.ui.charts.colours import AGREEMENT_COLOUR, NEUTRAL
from pages.ui.charts.look import cell_selection, column_tooltips, ramp, ringed
from pages.ui.words.columns import title
from pages.ui.words.offsets import offset_told
from pages.ui.words.place import said

_CELL, _AROUND = 44, 70  # heights of a cell and of the axis below, in pixels
_ROOM = 0.84  # of a cell that dots are put into
_LARGEST = 150  # area of a dot, in square pixels


def offset_map(heads: pd.DataFrame, *, marked: tuple[int, int]) -> Any:
    """The chart; offsets that no head has are left out of both axes.

    Args:
        heads: rows layer, head, dependence, score, attention.
        marked: layer and head of the dot with a ring.
    """
    offsets = sorted({*heads["score"].tolist(), *heads["attention"].tolist()})
    dots = _arranged(heads, offsets)
    size = min((0.8 * _ROOM * _CELL / dots["side"].max()) ** 2, _LARGEST)
    x = alt.X("x:Q", **_places(offsets, said("score_axis")))
    y = alt.Y("y:Q", **_places(offsets, said("attention_axis")))
    base = alt.Chart(dots).encode(x=x, y=y)
    scheme = alt.SchemeParams(name="viridis", extent=[0.12, 0.95])
    scale = alt.Scale(type="sqrt", scheme=scheme, domainMin=0)
    name, legend = title("dependence"), ramp(".2~f")
    whole = dict.fromkeys(("layer", "head", "score", "attention"), "d")
    marks = (
        base.mark_circle(size=size, opacity=1, cursor="pointer", stroke="#80808080")
        .encode(
            color=alt.Color("dependence:Q", title=name, scale=scale, legend=legend),
            tooltip=column_tooltips(dots, **whole, dependence=".2f", n="d"),
        )
        .add_params(cell_selection("cell", "layer", "head"))
    )
    layers = [*_ground(len(offsets), x, y), marks, ringed(base, marked, size=size * 2.4)]
    return alt.layer(*layers).properties(height=_CELL * max(len(offsets), 5) + _AROUND)


def _places(offsets: list[int], name: str) -> dict[str, Any]:
    """Places from 0, one for every offset, under the offset's name."""
    axis = alt.Axis(
        values=list(range(len(offsets))),
        labelExpr=f"{[offset_told(each) for each in offsets]}[datum.value]",
        grid=False,
        ticks=False,
        labelAngle=0,
    )
    scale = alt.Scale(domain=[-0.5, len(offsets) - 0.5], nice=False, zero=False)
    return {"title": name, "scale": scale, "axis": axis}


def _arranged(heads: pd.DataFrame, offsets: list[int]) -> pd.DataFrame:
    """Each head's place in its cell: rows of dots, the most position-dependent first."""
    heads = heads.sort_values("dependence", ascending=False)
    cells = heads.groupby(["score", "attention"])
    place, n = cells.cumcount(), cells["head"].transform("size")
    side = np.ceil(np.sqrt(n))
    across = (place % side + 0.5) / side - 0.5
    down = (place // side + 0.5) / np.ceil(n / side) - 0.5
    x, y = (heads[each].map(offsets.index) for each in ("score", "attention"))
    return heads.assign(x=x + _ROOM * across, y=y - _ROOM * down, side=side, n=n)


def _ground(n: int, x: Any, y: Any) -> list[Any]:
    """The cells, those of the diagonal tinted."""
    cells = pd.DataFrame(list(product(range(n), repeat=2)), columns=["column", "row"])
    half = _ROOM / 2 + 0.04
    edges = {"x": cells["column"] - half, "x2": cells["column"] + half}
    edges |= {"y": cells["row"] - half, "y2": cells["row"] + half}
    same = cells["column"] == cells["row"]
    ground = alt.Chart(pd.DataFrame(edges | {"same": same})).encode(x=x, y=y, x2="x2", y2="y2")
    tints = (("!datum.same", NEUTRAL, 0.07), ("datum.same", AGREEMENT_COLOUR, 0.28))
    return [
        ground.transform_filter(which).mark_rect(
            color=colour, opacity=opacity, tooltip=False, aria=False
        )
        for which, colour, opacity in tints
    ]
