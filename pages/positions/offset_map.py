"""Table of the offsets of scores and of attention, with a dot for every head."""

from itertools import product
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.charts.chart_theme import (
    Chart,
    cell_selection,
    column_tooltips,
    layered,
    ramp,
    ringed,
)
from pages.charts.colours import AGREEMENT_COLOUR, NEUTRAL
from pages.charts.encodings import places
from pages.kit.section import Choices
from pages.words.columns import title
from pages.words.numbers import offset_label
from pages.words.scope import say_here

_CELL, _AROUND = 44, 70  # heights of a cell and of the axis below, in pixels
_ROOM = 0.84  # of a cell that dots are put into
_LARGEST = 150  # area of a dot, in square pixels


def offset_map(heads: pd.DataFrame, _: str, choices: Choices) -> Any:
    """Draw all heads as dots in a table of score offset and attention offset.

    Heads on the diagonal agree with the prediction. Offsets that no head has are left out of both
    axes.
    """
    marked = (choices["layer"], choices["head"])
    offsets = sorted({*heads["score"].tolist(), *heads["attention"].tolist()})
    dots = _arranged(heads, offsets)
    size = min((0.8 * _ROOM * _CELL / dots["side"].max()) ** 2, _LARGEST)
    names = list(map(offset_label, offsets))
    x = places(alt.X, names, title=say_here("score_axis"))
    y = places(alt.Y, names, title=say_here("attention_axis"))
    base = Chart(dots).encode(x=x, y=y)
    scheme = alt.SchemeParams(name="viridis", extent=[0.12, 0.95])
    scale = alt.Scale(type="sqrt", scheme=scheme, domainMin=0)
    name, legend = title("dependence"), ramp(".2~f")
    integers = dict.fromkeys(("layer", "head", "score", "attention"), "d")
    marks = (
        base.mark_circle(size=size, opacity=1, cursor="pointer", stroke="#80808080")
        .encode(
            color=alt.Color("dependence:Q", title=name, scale=scale, legend=legend),
            tooltip=column_tooltips(dots, **integers, dependence=".2f", n="d"),
        )
        .add_params(cell_selection("cell", "layer", "head"))
    )
    layers = [*_ground(len(offsets), x, y), marks, ringed(base, marked, size=size * 2.4)]
    return layered(*layers, height=_CELL * max(len(offsets), 5) + _AROUND)


def _arranged(heads: pd.DataFrame, offsets: list[int]) -> pd.DataFrame:
    """Position of each head in its cell: rows of dots, the most position-dependent first."""
    heads = heads.sort_values("dependence", ascending=False)
    cells = heads.groupby(["score", "attention"])
    place, n = cells.cumcount(), cells["head"].transform("size")
    side = np.ceil(np.sqrt(n))
    across = (place % side + 0.5) / side - 0.5
    down = (place // side + 0.5) / np.ceil(n / side) - 0.5
    x, y = (heads[column].map(offsets.index) for column in ("score", "attention"))
    return heads.assign(x=x + _ROOM * across, y=y - _ROOM * down, side=side, n=n)


def _ground(n: int, x: Any, y: Any) -> list[Any]:
    """Draw the cells of the table, those of the diagonal tinted."""
    half = _ROOM / 2 + 0.04
    cells = [
        {"x": a - half, "x2": a + half, "y": b - half, "y2": b + half, "same": a == b}
        for a, b in product(range(n), repeat=2)
    ]
    ground = Chart(pd.DataFrame(cells))
    ground = ground.encode(x=x, y=y, x2=alt.X2("x2"), y2=alt.Y2("y2"))
    tints = (("!datum.same", NEUTRAL, 0.07), ("datum.same", AGREEMENT_COLOUR, 0.28))
    return [
        ground.transform_filter(which).mark_rect(
            color=colour, opacity=opacity, tooltip=False, aria=False
        )
        for which, colour, opacity in tints
    ]
