"""Attention of a head in a text: lines between two columns of its tokens (Clark et al., figure 1).

A click on a token leaves its own lines, with arrows and numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.statistics.base.weighing import WEIGHT
from pages.charts.chart_theme import Chart, layered, tooltips
from pages.charts.colours import MARKED, WEIGHING_COLOURS
from pages.drawn.text_layout import FONT
from pages.words.numbers import percent
from pages.words.say import say

CLICKED = "clicked"
"""Name of the selection of a clicked token, by its name: its side and its position."""
MOST = 40
"""Tokens of a text that are drawn besides its special ones."""
SIDES = ("query", "key")
_WIDEST = 7.0  # pixels of a line with all attention
_FAINTEST = 0.004  # share of a line that is drawn
_NAMED = 0.01  # share of a line whose number is written
_ROW, _AROUND, _SIZE = 17, 80, 12  # pixels: of a token; of the legend and headings; of type
_IN, _OUT = 0.05, 0.9  # of the distance of the columns: ends of lines; the width of a column
_LIMIT = f"width * {_OUT / (1 + 2 * _OUT):.3f} - 30"
"""Width of a token: of its column, less the numbers of a clicked token."""


@dataclass(frozen=True)
class TextAttention:
    """Attention of one head in one text.

    Attributes:
        shares: of every key in each query's attention.
        names: unique names of the tokens.
        special: True for tokens such as [CLS].
        weighing: whether the shares are of weights or of norms.
        around: position of a token that is drawn in any case.
        most: number of tokens drawn besides the special ones of a longer text.
    """

    shares: np.ndarray
    names: Sequence[str]
    special: Sequence[bool]
    weighing: str = WEIGHT
    around: int | None = None
    most: int = MOST

    @property
    def drawn(self) -> list[int]:
        """Positions drawn: a window of the text, and the special tokens outside of it."""
        n = len(self.shares)
        start = max(0, min((self.around or 0) - self.most // 2, n - self.most))
        window = range(start, min(n, start + self.most))
        return [pos for pos in range(n) if pos in window or self.special[pos]]

    @property
    def lines(self) -> pd.DataFrame:
        """Every line: query_pos, key_pos, query, key, share."""
        drawn = np.array(self.drawn)
        query, key = (grid.ravel() for grid in np.meshgrid(drawn, drawn, indexing="ij"))
        frame = pd.DataFrame(
            {
                "query_pos": query,
                "key_pos": key,
                "query": [self.names[pos] for pos in query],
                "key": [self.names[pos] for pos in key],
                "share": self.shares[query, key].astype(float),
            }
        )
        return frame[frame["share"] >= _FAINTEST].reset_index(drop=True)

    @property
    def left_out(self) -> str:
        """Sentence on what is left out of the lines; empty if nothing is."""
        n, drawn = len(self.names), self.drawn
        if len(drawn) == n:
            return ""
        outside = 1 - float(self.shares[np.ix_(drawn, drawn)].sum() / len(drawn))
        return say("attention_lines.window", shown=len(drawn), n=n, share=percent(outside))


def attention_lines(text: TextAttention, frame: pd.DataFrame, *, chosen: int | None = None) -> Any:
    """Draw the lines of a text.

    Args:
        frame: the lines of the text.
        chosen: the token whose lines are drawn first, as a query.
    """
    row = {pos: place for place, pos in enumerate(text.drawn)}
    colour = WEIGHING_COLOURS[text.weighing]
    down = alt.Scale(domain=[-1.7, len(row) - 0.5], reverse=True, nice=False)
    across = alt.Scale(domain=[-_OUT, 1 + _OUT], nice=False)
    x, y = alt.X("x:Q", axis=None, scale=across), alt.Y("y:Q", axis=None, scale=down)
    title = say(f"attention_lines.{text.weighing}")
    width = alt.StrokeWidth(
        "share:Q",
        title=title,
        scale=alt.Scale(domain=[0, 1], range=[0, _WIDEST]),
        legend=alt.Legend(
            orient="bottom", format=".0%", values=[0.1, 0.5, 1.0], symbolStrokeColor=colour
        ),
    )
    lines = frame.assign(
        x=_IN, x2=1 - _IN, y=frame["query_pos"].map(row), y2=frame["key_pos"].map(row)
    )
    titles = {side: say(f"attention_lines.{side}") for side in SIDES} | {"share": title}
    place = {"x": x, "y": y, "x2": alt.X2("x2:Q"), "y2": alt.Y2("y2:Q"), "strokeWidth": width}
    rules = [
        _of_clicked(lines, side, or_all=side == SIDES[0])
        .mark_rule(color=colour, opacity=0.75, strokeCap="round")
        .encode(**place, tooltip=tooltips(titles, lines, ".1%"))
        for side in SIDES
    ]
    parts = [*rules, *_numbers(lines, x, y, colour), *_tokens(text, row, x, y, chosen)]
    return layered(*parts, height=_ROW * (len(row) + 1) + _AROUND)


def _of_clicked(lines: pd.DataFrame, side: str, *, or_all: bool = False) -> Chart:
    """Chart of the lines of a token that is clicked on one side.

    Args:
        or_all: whether all lines are drawn while no token is clicked, else none.
    """
    of_side = lines.assign(name=[_name(side, pos) for pos in lines[f"{side}_pos"]])
    return Chart(of_side).transform_filter({"param": CLICKED, "empty": or_all})


def _name(side: str, pos: int) -> str:
    """Name of a token on one side."""
    return f"{side} {pos}"


def _numbers(lines: pd.DataFrame, x: alt.X, y: alt.Y, colour: str) -> list[Chart]:
    """Draw arrows at the ends of the lines of a clicked token, and their shares beyond."""
    parts, named = [], lines[lines["share"] >= _NAMED]
    for side, at, end in (("query", 1 + _OUT, "y2"), ("key", -_OUT, "y")):
        base = _of_clicked(named.assign(at=at), side)
        across, down, tip, tip_y = x.copy(), y.copy(), x.copy(), y.copy()
        across.shorthand, down.shorthand = "at:Q", f"{end}:Q"
        tip.shorthand, tip_y.shorthand = "x2:Q", "y2:Q"
        arrows = base.mark_point(shape="triangle-right", filled=True, size=55, opacity=1)
        align = "right" if side == "query" else "left"
        numbers = base.mark_text(align=align, fontSize=_SIZE, tooltip=False)
        parts += [
            arrows.encode(x=tip, y=tip_y, color=alt.ColorValue(colour)),
            numbers.encode(x=across, y=down, text=alt.Text("share:Q", format=".0%")),
        ]
    return parts


def _tokens(
    text: TextAttention, row: dict[int, int], x: alt.X, y: alt.Y, chosen: int | None
) -> list[Chart]:
    """Draw the tokens on both sides under their headings; a click chooses one."""
    tokens = pd.DataFrame(
        [
            {"name": _name(side, pos), "side": side, "y": place, "x": at, "x2": end}
            | {"token": text.names[pos]}
            for side, at, end in (("query", 0.0, -_OUT), ("key", 1.0, 1 + _OUT))
            for pos, place in row.items()
        ]
    )
    selection = alt.selection_point(
        name=CLICKED,
        fields=["name"],
        on="click",
        empty=False,
        value=alt.Undefined if chosen is None else [{"name": _name(SIDES[0], chosen)}],
    )
    base = Chart(tokens.assign(low=tokens["y"] - 0.5, high=tokens["y"] + 0.5))
    low = y.copy()
    low.shorthand = "low:Q"
    grounds = (
        base.mark_rect(cursor="pointer", opacity=0.16, tooltip=False)
        .encode(
            x=x,
            x2=alt.X2("x2:Q"),
            y=low,
            y2=alt.Y2("high:Q"),
            color=alt.when(selection).then(alt.value(MARKED)).otherwise(alt.value("transparent")),
            description=alt.Description("token:N"),
        )
        .add_params(selection)
    )
    parts, style = [grounds], {"font": FONT, "fontSize": _SIZE, "tooltip": False}
    headings = pd.DataFrame({"x": [0.0, 1.0], "y": -1.2, "side": SIDES})
    headings["token"] = [say(f"attention_lines.{side}") for side in SIDES]
    for side, align in zip(SIDES, ("right", "left"), strict=True):
        of_side = alt.datum["side"] == side
        words = base.transform_filter(of_side).mark_text(
            align=align, baseline="middle", limit=alt.ExprRef(_LIMIT), **style
        )
        above = (
            Chart(headings)
            .transform_filter(of_side)
            .mark_text(align=align, fontSize=_SIZE, fontWeight=600, tooltip=False)
        )
        parts += [part.encode(x=x, y=y, text=alt.Text("token:N")) for part in (words, above)]
    return parts
