"""A sentence with its tree on one side of the words and what a head points to on the other.

Along the sentence run the words, each with the label of its dependency; away from them, upwards or
to the left, the arcs of the tree, and on the other side those of the head. A sentence that is too
long to be read across stands upright.
"""

import math
import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

HEIGHT = 10.0
"""How far the longest arc is away from the words."""
_LETTER, _SMALL, _GAP = 8.6, 6.8, 24.0  # pixels
_PAGE = 1_000  # pixels that an upright drawing may take from left to right
_STEPS = 25
_FLATTER = 0.7  # power by which height grows with distance
_ASIDE = 0.16  # of a word, by which an arc leaves its governor towards the dependent
_ACROSS = (1.0, 1.1)  # half a row of words, and the row of labels, where the longest arc is 10


@dataclass(frozen=True)
class Drawing:
    """Everything that is drawn: lines point by point, arrow heads, and words with their labels.

    `kind` is `tree` or `other` for arcs and labels of the treebank, `right` or `wrong` for arcs of
    the head. `low` and `high` are how far the head's arcs and those of the tree reach.
    """

    lines: pd.DataFrame
    ends: pd.DataFrame
    words: pd.DataFrame
    length: float
    low: float
    high: float
    upright: bool


@dataclass(frozen=True)
class _Layout:
    """Where words stand, how much room each has, where arcs of either side begin."""

    centres: dict[int, float]
    sizes: dict[int, float]
    starts: dict[int, float]
    farthest: int


def drawing(words: pd.DataFrame, *, widest: float, everything: bool) -> Drawing:
    """The arcs of a sentence.

    Args:
        words: one sentence's rows word, form, relation, governor, predicted, of_relation, right in
            the order of the words; governor missing for the root, predicted −1 for none.
        widest: pixels that a sentence may take to be drawn across.
        everything: whether the head's arcs of all words are drawn, else of the relation's alone.
    """
    forms, labels = _widths(words["form"], _LETTER), _widths(words["relation"], _SMALL)
    slots = np.maximum(forms, labels) + _GAP
    upright = bool(slots.sum() > widest)
    slots = np.ones(len(slots)) if upright else slots
    half, label = _rooms(forms.max(), labels.max()) if upright else _ACROSS
    ends = slots.cumsum()
    numbers = words["word"].tolist()
    arcs = [*_tree(words), *_head(words, everything=everything)]
    layout = _Layout(
        centres=dict(zip(numbers, (ends - slots / 2).tolist(), strict=True)),
        sizes=dict(zip(numbers, slots.tolist(), strict=True)),
        starts={1: half + label, -1: half},
        farthest=max((abs(each["governor"] - each["word"]) for each in arcs), default=1),
    )
    lines = [point for number, each in enumerate(arcs) for point in _points(number, each, layout)]
    tips = [{**each, **_tip(each, layout)} for each in arcs]
    drawn = pd.DataFrame(lines, columns=["arc", "step", "along", "away", "kind", "told"])
    reach = (HEIGHT, HEIGHT) if upright else _reach(drawn, layout)
    return Drawing(
        lines=drawn,
        ends=pd.DataFrame(tips, columns=["along", "away", "kind", "told"]),
        words=_words(words, layout, (half, label), None if upright else forms),
        length=float(ends[-1]),
        low=half + reach[0] + 0.6,
        high=half + label + reach[1] + 0.6,
        upright=upright,
    )


def _words(
    words: pd.DataFrame, layout: _Layout, rooms: tuple[float, float], forms: np.ndarray | None
) -> pd.DataFrame:
    """Words and labels with their places, and the edges of the ground that a word stands on.

    Args:
        rooms: half of the row or column of words, and that of the labels.
        forms: pixels that the words take across; None where they stand upright.
    """
    half, label = rooms
    along = words["word"].map(layout.centres)
    length = 0.42 if forms is None else (forms + 8) / 2
    return words[["form", "relation", "of_relation"]].assign(
        along=along,
        along_low=along - length,
        along_high=along + length,
        away=0.0,
        away_low=-0.85 * half,
        away_high=0.85 * half,
        label_away=half + (0.1 if forms is None else label / 2),
        kind=["tree" if each else "other" for each in words["of_relation"]],
    )


def _widths(texts: pd.Series, letter: float) -> np.ndarray:
    """About as many pixels as texts take; letters of Chinese and Japanese are twice as wide."""
    wide = [[1 + (unicodedata.east_asian_width(each) in "WF") for each in text] for text in texts]
    return letter * np.array([sum(each) for each in wide], dtype=float)


def _rooms(form: float, label: float) -> tuple[float, float]:
    """Half of the column of words, and the column of labels, in units of height."""
    form, label = min(form + 24, 400), min(label + 24, 200)
    unit = (_PAGE - form - label) / (2 * HEIGHT)
    return form / 2 / unit, label / unit


def _reach(lines: pd.DataFrame, layout: _Layout) -> tuple[float, float]:
    """How far the head's arcs and those of the tree go beyond where they begin."""
    head, tree = -lines["away"].min(), lines["away"].max()
    return (
        max(head - layout.starts[-1], 0.0) if head > 0 else 0.0,
        max(tree - layout.starts[1], 0.0) if tree > 0 else 0.0,
    )


def _tree(words: pd.DataFrame) -> list[dict[str, Any]]:
    """The arcs of the treebank, those of the relation last, so that they lie on top."""
    forms = dict(zip(words["word"], words["form"], strict=True))
    told = words.dropna(subset="governor").sort_values("of_relation", kind="stable")
    return [
        {
            "word": row["word"],
            "governor": int(row["governor"]),
            "kind": "tree" if row["of_relation"] else "other",
            "side": 1,
            "told": f"{row['form']} ← {row['relation']} ← {forms[int(row['governor'])]}",
        }
        for row in told.to_dict("records")
    ]


def _head(words: pd.DataFrame, *, everything: bool) -> list[dict[str, Any]]:
    """What the head points to: right or wrong."""
    forms = dict(zip(words["word"], words["form"], strict=True))
    told = words[(words["predicted"] >= 0) & (words["of_relation"] | everything)]
    return [
        {
            "word": row["word"],
            "governor": int(row["predicted"]),
            "kind": "right" if row["right"] else "wrong",
            "side": -1,
            "told": f"{row['form']} ← {forms[int(row['predicted'])]}",
        }
        for row in told.to_dict("records")
    ]


def _points(number: int, arc: dict[str, Any], layout: _Layout) -> list[dict[str, Any]]:
    """Half an ellipse from governor to dependent."""
    word, governor, side = arc["word"], arc["governor"], arc["side"]
    aside = math.copysign(_ASIDE * layout.sizes[governor], word - governor)
    start, end = layout.centres[governor] + aside, layout.centres[word]
    height = HEIGHT * (abs(word - governor) / layout.farthest) ** _FLATTER
    angles = np.linspace(math.pi, 0, _STEPS)
    along = (start + end) / 2 + (end - start) / 2 * np.cos(angles)
    away = side * (layout.starts[side] + height * np.sin(angles))
    told = {"arc": number, "kind": arc["kind"], "told": arc["told"]}
    return [
        {**told, "step": step, "along": float(x), "away": float(y)}
        for step, (x, y) in enumerate(zip(along, away, strict=True))
    ]


def _tip(arc: dict[str, Any], layout: _Layout) -> dict[str, float]:
    side = arc["side"]
    return {"along": layout.centres[arc["word"]], "away": side * layout.starts[side]}
