"""One text from every start layer: a row of cells per layer, a cell per token."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.relevance.token_maps import TokenMaps
from pages.ui.charts.colours import MARKED
from pages.ui.charts.look import ramp
from pages.ui.words.say import say

_ROW, _FEWEST = 26, 5  # height of a row, and of how few rows at least
_AROUND = 60
_ENDS = "'\\\n\r\u2028\u2029"  # letters that mean something in a string of an expression
_LETTERS = 80  # that fit below the cells
_LEGIBLE = 32  # tokens up to which their own names stand below the cells


def strip_frame(maps: TokenMaps, layers: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    """Numbers of the strip: layer, pos (from 1), token, apart, relevance.

    Args:
        layers: by the number of a layer, the relevance of every token.
    """
    shown = maps.names
    parts = [
        pd.DataFrame(
            {
                "layer": int(layer),
                "pos": np.arange(1, len(shown) + 1),
                "token": shown,
                "apart": list(maps.apart),
                "relevance": np.asarray(relevance, dtype=float),
            }
        )
        for layer, relevance in layers.items()
    ]
    return pd.concat(parts, ignore_index=True)


def token_strip(frame: pd.DataFrame, *, marked: int) -> Any:
    """The chart; tokens that are told apart are left out and stay empty.

    Args:
        frame: as `strip_frame` gives it.
        marked: the layer with a frame around it.
    """
    n_tokens = int(frame["pos"].max())
    shown = frame[~frame["apart"]]
    top = float(shown["relevance"].max()) if len(shown) else 1.0
    few = n_tokens <= _LEGIBLE
    axis = alt.Axis(
        labelAngle=-60 if few and _crowded(frame, n_tokens) else 0,
        labelExpr=_names(frame, n_tokens) if few else "datum.value",
        values=list(range(1, n_tokens + 1)) if few else list(range(20, n_tokens + 1, 20)),
        labelOverlap=False,
        ticks=False,
        labelLimit=90,
    )
    x = alt.X(
        "pos:O",
        title=say("relevance_text.place"),
        axis=axis,
        scale=alt.Scale(domain=list(range(1, n_tokens + 1)), paddingInner=0),
    )
    y = alt.Y("layer:O", title=say("relevance_corpus.start"))
    base = alt.Chart(shown).encode(x=x, y=y)
    cells = base.mark_rect().encode(
        color=alt.Color(
            "relevance:Q",
            title=say("relevance_text.share"),
            scale=alt.Scale(scheme="viridis", domain=[0, top or 1.0]),
            legend=ramp(".1%"),
        ),
        tooltip=[
            alt.Tooltip("token:N", title=say("relevance_text.token")),
            alt.Tooltip("pos:Q", title=say("relevance_text.place"), format="d"),
            alt.Tooltip("layer:Q", title=say("relevance_corpus.start"), format="d"),
            alt.Tooltip("relevance:Q", title=say("relevance_text.share"), format=".3%"),
        ],
    )
    layers = frame["layer"].nunique()
    row = (
        alt.Chart(_ends(frame, marked))
        .mark_rect(filled=False, stroke=MARKED, strokeWidth=2)
        .encode(y=alt.Y("layer:O"), x=alt.value(0), x2=alt.value("width"))
    )
    return alt.layer(cells, row).properties(height=_ROW * max(layers, _FEWEST) + _AROUND)


def _crowded(frame: pd.DataFrame, n_tokens: int) -> bool:
    """Whether names that lie flat below their cells would meet."""
    return frame["token"].str.len().max() * n_tokens > _LETTERS


def _ends(frame: pd.DataFrame, marked: int) -> pd.DataFrame:
    return frame.loc[frame["layer"] == marked, ["layer"]].head(1)


def _names(frame: pd.DataFrame, n_tokens: int) -> str:
    """An expression that gives every place the name of its token."""
    names: Sequence[str] = frame.head(n_tokens)["token"].tolist()
    quoted = ", ".join("'" + _harmless(each) + "'" for each in names)
    return f"[{quoted}][datum.value - 1]"


def _harmless(token: str) -> str:
    """A token as the inside of a string of a Vega expression."""
    return "".join(f"\\u{ord(each):04x}" if each in _ENDS else each for each in token)
