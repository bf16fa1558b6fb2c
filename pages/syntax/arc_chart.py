"""The arcs of a sentence as a chart, across or upright."""

from typing import Any

import altair as alt
import pandas as pd

from pages.syntax.arcs import Drawing
from pages.ui.words.say import say

_COLOURS = {"tree": "#2f86c9", "other": "#7c828b", "right": "#2c9c7c", "wrong": "#d9552b"}
_DASHES = {"tree": [1, 0], "other": [1, 0], "right": [1, 0], "wrong": [5, 3]}
_OTHERS, _CHOSEN = ("#e6e9ed", "#23262b"), ("#1f6a9e", "#ffffff")  # ground and ink of words
_UNIT, _LINE, _AROUND = 15, 25, 44  # pixels: of height; a word of an upright sentence; the legend


def arc_chart(drawn: Drawing) -> Any:
    """Words in the middle; the tree above or to the left, the head's arcs on the other side."""
    names = {kind: say(f"syntax.arcs.{kind}") for kind in _COLOURS}
    colour = alt.Color(
        "name:N",
        scale=alt.Scale(domain=list(names.values()), range=list(_COLOURS.values())),
        legend=alt.Legend(orient="top", symbolType="stroke", labelLimit=0, title=None),
    )
    dash = alt.StrokeDash(
        "name:N",
        scale=alt.Scale(domain=list(names.values()), range=list(_DASHES.values())),
        legend=None,
    )
    told = alt.Tooltip("told:N", title=say("syntax.arcs.arc"))

    def placed(frame: pd.DataFrame, along: str = "along", away: str = "away") -> alt.Chart:
        named = frame.assign(name=frame["kind"].map(names))
        return alt.Chart(named).encode(**_scales(drawn, along, away))

    lines = placed(drawn.lines).mark_line(strokeWidth=1.7, opacity=0.95)
    parts: list[Any] = [
        lines.encode(color=colour, strokeDash=dash, detail="arc:N", order="step:Q", tooltip=told)
    ]
    for side in (1, -1):
        tips = placed(drawn.ends[drawn.ends["away"] * side > 0])
        arrows = tips.mark_point(
            shape="triangle", filled=True, size=42, opacity=1, angle=_angle(drawn, side)
        )
        parts.append(arrows.encode(color=colour, tooltip=told))
    aligned: dict[str, Any] = {"align": "right"} if drawn.upright else {}
    labels = placed(drawn.words, away="label_away").mark_text(fontSize=11, **aligned)
    parts.append(labels.encode(text="relation:N", color=colour))
    for chosen in (False, True):
        words = drawn.words[drawn.words["of_relation"] == chosen]
        if len(words):
            ground = placed(words, "along_low", "away_low")
            parts += _words(drawn, ground, placed(words), chosen=chosen)
    return alt.layer(*parts).properties(height=_height(drawn))


def _words(drawn: Drawing, ground: Any, base: Any, *, chosen: bool) -> list[Any]:
    """Words on a ground of their own, which is read by day and by night; chosen ones stand out."""
    colour, ink = _CHOSEN if chosen else _OTHERS
    along, away = ("y2", "x2") if drawn.upright else ("x2", "y2")
    told = alt.Tooltip("form:N", title=say("syntax.arcs.word"))
    rects = ground.mark_rect(color=colour, cornerRadius=4, opacity=1)
    texts = base.mark_text(fontSize=14, fontWeight="bold" if chosen else "normal", color=ink)
    return [
        rects.encode(**{along: "along_high", away: "away_high"}, tooltip=told),
        texts.encode(text="form:N", tooltip=told),
    ]


def _scales(drawn: Drawing, along: str, away: str) -> dict[str, Any]:
    """Both channels without axes; an upright sentence is read downwards, its tree on the left."""
    length = alt.Scale(domain=[0, drawn.length], nice=False, zero=False, reverse=drawn.upright)
    depth = alt.Scale(domain=[-drawn.low, drawn.high], nice=False, reverse=drawn.upright)
    if drawn.upright:
        return {
            "y": alt.Y(f"{along}:Q", axis=None, scale=length),
            "x": alt.X(f"{away}:Q", axis=None, scale=depth),
        }
    return {
        "x": alt.X(f"{along}:Q", axis=None, scale=length),
        "y": alt.Y(f"{away}:Q", axis=None, scale=depth),
    }


def _angle(drawn: Drawing, side: int) -> int:
    """Which way an arrow head is turned, so that it points at the word."""
    if drawn.upright:
        return 90 if side > 0 else 270
    return 180 if side > 0 else 0


def _height(drawn: Drawing) -> float:
    size = _LINE * drawn.length if drawn.upright else _UNIT * (drawn.low + drawn.high)
    return size + _AROUND
