"""Chart of the arcs of a sentence, horizontal or upright."""

import math
from typing import Any

import altair as alt
import pandas as pd

from pages.syntax.arcs import PAGE, Drawing
from pages.ui.charts.chart_theme import Chart, layered
from pages.ui.charts.colours import ARC_COLOURS, WORD_GROUNDS
from pages.ui.charts.encodings import named
from pages.ui.words.columns import title
from pages.ui.words.scope import say_here

_DASHED = {"wrong": [5, 3]}
_UNIT, _LINE, _AROUND = 15, 25, 44  # pixels: of height; a word of an upright sentence; the legend


def arc_chart(drawn: Drawing) -> Any:
    """Draw words in the middle, the tree above or to the left, and the head's arcs opposite."""
    names = {kind: say_here(f"arc_{kind}") for kind in ARC_COLOURS}
    kinds, dashes = list(names.values()), [_DASHED.get(kind, [1, 0]) for kind in names]
    colours = dict(zip(kinds, ARC_COLOURS.values(), strict=True))
    colour = named("name", colours, title=None, symbolType="stroke")
    dash = alt.StrokeDash("name:N", scale=alt.Scale(domain=kinds, range=dashes), legend=None)
    arc = alt.Tooltip("arc_text:N", title=title("arc_text"))

    across, up = (alt.Y, alt.X) if drawn.upright else (alt.X, alt.Y)  # read downwards if upright
    length = alt.Scale(domain=[0, drawn.length], nice=False, zero=False, reverse=drawn.upright)
    depth = alt.Scale(domain=[-drawn.low, drawn.high], nice=False, reverse=drawn.upright)

    def placed(frame: pd.DataFrame, along: str = "along", away: str = "away") -> alt.Chart:
        named = frame.assign(name=frame["kind"].map(names))
        along_words = across(f"{along}:Q", axis=None, scale=length)
        return Chart(named).encode(along_words, up(f"{away}:Q", axis=None, scale=depth))

    lines = placed(drawn.lines).mark_line(strokeWidth=1.7, opacity=0.95)
    parts: list[Any] = [
        lines.encode(
            color=colour,
            strokeDash=dash,
            detail=alt.Detail("arc:N"),
            order=alt.Order("step:Q"),
            tooltip=arc,
        )
    ]
    for side in (1, -1):
        tips = placed(drawn.ends[drawn.ends["away"] * side > 0])
        angle = (90 if drawn.upright else 180) if side > 0 else (270 if drawn.upright else 0)
        arrows = tips.mark_point(shape="triangle", filled=True, size=42, opacity=1, angle=angle)
        parts.append(arrows.encode(color=colour, tooltip=arc))
    aligned: dict[str, Any] = {"align": "right"} if drawn.upright else {}
    labels = placed(drawn.words, away="label_away").mark_text(fontSize=11, **aligned)
    parts.append(labels.encode(text=alt.Text("relation:N")))
    for chosen in (False, True):
        words = drawn.words[drawn.words["of_relation"] == chosen]
        if len(words):
            ground = placed(words, "along_low", "away_low")
            parts += _words(ground, placed(words), chosen=chosen, upright=drawn.upright)
    size = _LINE * drawn.length if drawn.upright else _UNIT * (drawn.low + drawn.high)
    least = PAGE if drawn.upright else math.ceil(drawn.length)
    return layered(*parts, height=size + _AROUND, usermeta={"least_width": least})


def _words(ground: Any, base: Any, *, chosen: bool, upright: bool) -> list[Any]:
    """Draw words on a background that is legible in both themes; chosen words stand out."""
    colour, ink = WORD_GROUNDS[chosen]
    along, away = ("y2", "x2") if upright else ("x2", "y2")
    word = alt.Tooltip("form:N", title=title("form"))
    rects = ground.mark_rect(color=colour, cornerRadius=4, opacity=1)
    texts = base.mark_text(fontSize=14, fontWeight="bold" if chosen else "normal", color=ink)
    return [
        rects.encode(**{along: "along_high", away: "away_high"}, tooltip=word),
        texts.encode(text=alt.Text("form:N"), tooltip=word),
    ]
