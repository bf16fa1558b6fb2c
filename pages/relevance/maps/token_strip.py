"""Relevance of one text from every start layer: a row of cells per layer, a cell per token."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.relevance.maps.source import Maps
from pages.relevance.maps.text_map import TokenMaps
from pages.ui.charts.chart_theme import Chart, layered, rows_height
from pages.ui.charts.colours import MARKED
from pages.ui.charts.encodings import name_at
from pages.ui.charts.heat_map import heat_map
from pages.ui.words.columns import title

_ROW, _FEWEST = 26, 5  # height of a row in pixels, and least number of rows of the chart
_AROUND = 60
_LETTERS = 80  # that fit below the cells
_LEGIBLE = 32  # tokens up to which their own names stand below the cells
_EVERY = 20


def strip_frame(maps: TokenMaps, layers: Maps) -> pd.DataFrame:
    """Numbers of the strip: layer, pos (from 1), token, apart, relevance."""
    texts = maps.numbers({"token": maps.names, "apart": maps.apart})
    parts = [
        texts.assign(layer=int(layer), relevance=relevance) for layer, relevance in layers.items()
    ]
    return pd.concat(parts, ignore_index=True)[["layer", *texts.columns, "relevance"]]


def token_strip(frame: pd.DataFrame, *, marked: int) -> Any:
    """Draw the strip; cells of tokens set apart stay empty, and a frame marks a layer."""
    shown = frame[~frame["apart"]]
    cells = heat_map(
        shown,
        x="pos",
        across=_tokens(frame[frame["layer"] == frame["layer"].min()]["token"].tolist()),
        value="relevance",
        format=".2%",
        tooltip=("token",),
    )
    of_layer = frame.loc[frame["layer"] == marked, ["layer"]].head(1)
    row = Chart(of_layer).mark_rect(filled=False, stroke=MARKED, strokeWidth=2)
    row = row.encode(y=alt.Y("layer:O"), x=alt.XValue(0), x2=alt.X2Value("width"))
    height = rows_height(max(frame["layer"].nunique(), _FEWEST), _ROW) + _AROUND
    return layered(cells, row, height=height)


def _tokens(names: Sequence[str]) -> alt.X:
    """Axis of tokens, with their names if there are few."""
    n, few = len(names), len(names) <= _LEGIBLE
    crowded = max(map(len, names)) * n > _LETTERS  # lying flat, the names would meet
    axis = alt.Axis(
        labelAngle=-60 if few and crowded else 0,
        labelExpr=name_at(names, first=1) if few else "datum.value",
        values=list(range(1, n + 1)) if few else list(range(_EVERY, n + 1, _EVERY)),
        labelOverlap=False,
        ticks=False,
        labelLimit=90,
    )
    scale = alt.Scale(domain=list(range(1, n + 1)), paddingInner=0)
    return alt.X("pos:O", title=title("pos"), axis=axis, scale=scale)
