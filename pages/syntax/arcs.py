"""Sentences with their trees on one side and a head's predictions on the other.

Words run along the sentence, each with the label of its dependency. The arcs of the tree lie above
or to the left, those of the head on the other side. A sentence that is too long for one line is
drawn upright.
"""

import math
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from pages.charts.chart_theme import Chart, layered
from pages.charts.colours import ARC_COLOURS, WORD_GROUNDS
from pages.charts.encodings import named
from pages.kit.section import Choices
from pages.words.columns import title
from pages.words.lines import width_of
from pages.words.scope import say_here

HEIGHT = 10.0
"""Distance of the longest arc from the words."""
_LETTER, _SMALL, _GAP = 8.6, 6.8, 24.0  # pixels
_WIDEST, _PAGE = 1_050, 1_000  # pixels: of a sentence across; of an upright drawing
_STEPS = 25
_FLATTER = 0.7  # power by which height grows with distance
_ASIDE = 0.16  # of a word, by which an arc leaves its governor towards the dependent
_TREE, _HEAD = 1, -1  # sides
_UNIT, _LINE, _AROUND = 15, 25, 44  # pixels: of height; a word of an upright sentence; the legend


class Drawing(NamedTuple):
    """Points of lines, arrow heads, and words with their labels; extents of both sides' arcs."""

    lines: pd.DataFrame
    ends: pd.DataFrame
    words: pd.DataFrame
    length: float
    low: float
    high: float
    upright: bool


def is_upright(words: pd.DataFrame, *, widest: float = _WIDEST) -> bool:
    """Return True if a sentence is too long to be drawn across."""
    return bool((np.maximum(*_widths(words)) + _GAP).sum() > widest)


def _widths(words: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Widths in pixels of words and of their labels."""
    return words["form"].map(width_of) * _LETTER, words["relation"].map(width_of) * _SMALL


def drawing(words: pd.DataFrame, choices: Choices, *, widest: float = _WIDEST) -> Drawing:
    """Lay out the arcs of a sentence, with the head's arcs of all words or of the relation's alone.

    Args:
        words: one sentence's rows word, form, relation, governor, predicted, of_relation, right in
            the order of the words; governor missing for the root, predicted −1 for none.
        widest: pixels that a sentence may take to be drawn across.
    """
    forms, names = _widths(words)
    room, upright = np.maximum(forms, names) + _GAP, is_upright(words, widest=widest)
    half, label = 1.0, 1.1  # half a row of words, and the row of labels
    if upright:  # half the column of words, and that of labels
        room, wide, small = np.ones(len(words)), min(forms.max() + 24, 400), min(names.max(), 176)
        unit = (_PAGE - wide - small - 24) / (2 * HEIGHT)
        half, label = wide / 2 / unit, (small + 24) / unit
    placed = words.assign(along=np.cumsum(room) - room / 2, room=room).set_index("word")
    tree = words.dropna(subset="governor").sort_values("of_relation", kind="stable")
    kinds = np.where(tree["of_relation"], "tree", "other")
    tree = tree.assign(side=_TREE, kind=kinds, label=" ← " + tree["relation"])
    everything = choices["arcs"] == "everything"
    head = words[(words["predicted"] >= 0) & (words["of_relation"] | everything)]
    kinds = np.where(head["right"], "right", "wrong")
    head = head.assign(side=_HEAD, kind=kinds, label="", governor=head["predicted"])
    arcs = pd.concat([tree, head], ignore_index=True).astype({"governor": "int64"})
    governors = arcs["governor"].map(placed["form"])
    arcs["arc_text"] = arcs["form"] + arcs["label"] + " ← " + governors
    starts = {_TREE: half + label, _HEAD: half}
    arcs["start"] = arcs["side"].map(starts)
    lines = _lines(arcs, placed)
    reach = dict.fromkeys(starts, HEIGHT)
    if not upright:
        highest = (lines["away"].abs() - lines["start"]).groupby(lines["side"]).max()
        reach = {side: highest.get(side, 0.0) for side in starts}
    length = np.full(len(words), 0.42) if upright else (forms.to_numpy() + 8) / 2
    return Drawing(
        lines=lines[["arc", "step", "along", "away", "kind", "arc_text"]],
        ends=arcs.assign(
            along=arcs["word"].map(placed["along"]), away=arcs["side"] * arcs["start"]
        ),
        words=placed.reset_index()[["form", "relation", "of_relation", "along"]].assign(
            along_low=placed["along"].to_numpy() - length,
            along_high=placed["along"].to_numpy() + length,
            away=0.0,
            away_low=-0.85 * half,
            away_high=0.85 * half,
            label_away=half + (0.1 if upright else label / 2),
            kind=np.where(words["of_relation"], "tree", "other"),
        ),
        length=float(room.sum()),
        low=starts[_HEAD] + reach[_HEAD] + 0.6,
        high=starts[_TREE] + reach[_TREE] + 0.6,
        upright=upright,
    )


def _lines(arcs: pd.DataFrame, words: pd.DataFrame) -> pd.DataFrame:
    """Half an ellipse from every governor to its dependent, `_STEPS` points each."""
    steps = arcs["word"] - arcs["governor"]
    far = steps.abs() / steps.abs().max()
    aside = _ASIDE * np.sign(steps) * arcs["governor"].map(words["room"])
    first, last = arcs["governor"].map(words["along"]) + aside, arcs["word"].map(words["along"])
    angles = np.linspace(math.pi, 0, _STEPS)
    ellipses = ((first + last) / 2, (last - first) / 2, arcs["start"], HEIGHT * far**_FLATTER)
    middle, width, start, height = (values.to_numpy(dtype=float)[:, None] for values in ellipses)
    points = arcs.loc[arcs.index.repeat(_STEPS)]
    return points.assign(
        arc=points.index,
        step=np.tile(np.arange(_STEPS), len(arcs)),
        along=(middle + width * np.cos(angles)).ravel(),
        away=points["side"] * (start + height * np.sin(angles)).ravel(),
    )


def arc_chart(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw words in the middle, the tree above or to the left, and the head's arcs opposite."""
    drawn = drawing(frame, choices)
    upright, names = drawn.upright, {kind: say_here(f"arc_{kind}") for kind in ARC_COLOURS}
    colours = {names[kind]: colour for kind, colour in ARC_COLOURS.items()}
    colour = named("name", colours, title=None, symbolType="stroke")
    dashes = alt.Scale(domain=[*colours], range=[[1, 0], [1, 0], [1, 0], [5, 3]])
    tooltip = alt.Tooltip("arc_text:N", title=title("arc_text"))
    across, up = (alt.Y, alt.X) if upright else (alt.X, alt.Y)  # read downwards if upright
    length = alt.Scale(domain=[0, drawn.length], nice=False, zero=False, reverse=upright)
    depth = alt.Scale(domain=[-drawn.low, drawn.high], nice=False, reverse=upright)

    def placed(rows: pd.DataFrame, along: str = "along", away: str = "away") -> alt.Chart:
        return Chart(rows.assign(name=rows["kind"].map(names))).encode(
            across(f"{along}:Q", axis=None, scale=length), up(f"{away}:Q", axis=None, scale=depth)
        )

    parts: list[Any] = [
        placed(drawn.lines)
        .mark_line(strokeWidth=1.7, opacity=0.95)
        .encode(
            color=colour,
            strokeDash=alt.StrokeDash("name:N", scale=dashes, legend=None),
            detail=alt.Detail("arc:N"),
            order=alt.Order("step:Q"),
            tooltip=tooltip,
        )
    ]
    for side, angle in ((_TREE, 90 if upright else 180), (_HEAD, 270 if upright else 0)):
        tips = placed(drawn.ends[drawn.ends["side"] == side][["along", "away", "kind", "arc_text"]])
        tips = tips.mark_point(shape="triangle", filled=True, size=42, opacity=1, angle=angle)
        parts.append(tips.encode(color=colour, tooltip=tooltip))
    labels = placed(drawn.words, away="label_away")
    aligned: dict[str, Any] = {"align": "right"} if upright else {}
    parts.append(labels.mark_text(fontSize=11, **aligned).encode(text=alt.Text("relation:N")))
    ends = ("y2", "x2") if upright else ("x2", "y2")
    high = dict(zip(ends, ("along_high", "away_high"), strict=True))
    word = alt.Tooltip("form:N", title=title("form"))
    for chosen, words in drawn.words.groupby("of_relation"):
        ground, ink = WORD_GROUNDS[bool(chosen)]  # legible in both themes
        rects = placed(words, "along_low", "away_low").encode(**high, tooltip=word)
        texts = placed(words).encode(text=alt.Text("form:N"), tooltip=word)
        weight = "bold" if chosen else "normal"
        parts.append(rects.mark_rect(color=ground, cornerRadius=4, opacity=1))
        parts.append(texts.mark_text(fontSize=14, fontWeight=weight, color=ink))
    size = _LINE * drawn.length if upright else _UNIT * (drawn.low + drawn.high)
    least = _PAGE if upright else math.ceil(drawn.length)
    return layered(*parts, height=size + _AROUND, usermeta={"least_width": least})
