"""Drawing of a sentence with its tree on one side and a head's predictions on the other.

Words run along the sentence, each with the label of its dependency. The arcs of the tree lie above
or to the left, those of the head on the other side. A sentence that is too long for one line is
drawn upright.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pages.ui.words.lines import width_of

HEIGHT = 10.0
"""Distance of the longest arc from the words."""
_LETTER, _SMALL, _GAP = 8.6, 6.8, 24.0  # pixels
PAGE = 1_000
"""Width limit of an upright drawing, in pixels."""
_STEPS = 25
_FLATTER = 0.7  # power by which height grows with distance
_ASIDE = 0.16  # of a word, by which an arc leaves its governor towards the dependent
_ACROSS = (1.0, 1.1)  # half a row of words, and the row of labels, where the longest arc is 10
_TREE, _HEAD = 1, -1  # sides


@dataclass(frozen=True)
class Drawing:
    """Everything to draw: points of lines, arrow heads, and words with their labels.

    `kind` is `tree` or `other` for arcs and labels of the treebank, `right` or `wrong` for arcs of
    the head. `low` and `high` are the extents of the head's arcs and of the tree's.
    """

    lines: pd.DataFrame
    ends: pd.DataFrame
    words: pd.DataFrame
    length: float
    low: float
    high: float
    upright: bool


def drawing(words: pd.DataFrame, *, widest: float, everything: bool) -> Drawing:
    """Lay out the arcs of a sentence.

    Args:
        words: one sentence's rows word, form, relation, governor, predicted, of_relation, right in
            the order of the words; governor missing for the root, predicted −1 for none.
        widest: pixels that a sentence may take to be drawn across.
        everything: whether the head's arcs of all words are drawn, else of the relation's alone.
    """
    forms, labels = words["form"].map(width_of) * _LETTER, words["relation"].map(width_of) * _SMALL
    room = np.maximum(forms, labels) + _GAP
    upright = bool(room.sum() > widest)
    room = np.ones(len(words)) if upright else room
    half, label = _rooms(forms.max(), labels.max()) if upright else _ACROSS
    starts = {_TREE: half + label, _HEAD: half}
    placed = words.assign(room=room, along=room.cumsum() - room / 2)
    arcs = _arcs(words, everything=everything)
    arcs = arcs.assign(start=arcs["side"].map(starts))
    places = placed.set_index("word")["along"]
    ends = arcs.assign(along=arcs["word"].map(places), away=arcs["side"] * arcs["start"])
    lines = _lines(arcs, placed.set_index("word"))
    reach = dict.fromkeys(starts, HEIGHT) if upright else _reach(lines, starts)
    length = np.full(len(words), 0.42) if upright else (forms + 8) / 2
    return Drawing(
        lines=lines[["arc", "step", "along", "away", "kind", "arc_text"]],
        ends=ends[["along", "away", "kind", "arc_text"]],
        words=placed[["form", "relation", "of_relation", "along"]].assign(
            along_low=placed["along"] - length,
            along_high=placed["along"] + length,
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


def _rooms(form: float, label: float) -> tuple[float, float]:
    """Half the width of the column of words, and that of the labels, in units of height."""
    form, label = min(form + 24, 400), min(label + 24, 200)
    unit = (PAGE - form - label) / (2 * HEIGHT)
    return form / 2 / unit, label / unit


def _arcs(words: pd.DataFrame, *, everything: bool) -> pd.DataFrame:
    """Arcs of the treebank, with the relation's last, on top, and the predictions of the head.

    Returns:
        word, governor, side, kind, arc_text.
    """
    tree = words.dropna(subset="governor").sort_values("of_relation", kind="stable")
    tree = tree.assign(side=_TREE, kind=np.where(tree["of_relation"], "tree", "other"))
    head = words[(words["predicted"] >= 0) & (words["of_relation"] | everything)]
    head = head.assign(side=_HEAD, kind=np.where(head["right"], "right", "wrong"))
    head = head.assign(governor=head["predicted"])
    forms = words.set_index("word")["form"]
    parts = []
    for arcs, label in ((tree, " ← " + tree["relation"]), (head, "")):
        arcs = arcs.astype({"governor": "int64"})
        text = arcs["form"] + label + " ← " + arcs["governor"].map(forms)
        parts.append(arcs.assign(arc_text=text)[["word", "governor", "side", "kind", "arc_text"]])
    return pd.concat(parts, ignore_index=True)


def _lines(arcs: pd.DataFrame, words: pd.DataFrame) -> pd.DataFrame:
    """Half an ellipse from every governor to its dependent, `_STEPS` points each."""
    steps = arcs["word"] - arcs["governor"]
    far = steps.abs() / steps.abs().max()
    aside = _ASIDE * np.sign(steps) * arcs["governor"].map(words["room"])
    first, last = arcs["governor"].map(words["along"]) + aside, arcs["word"].map(words["along"])
    angles = np.linspace(math.pi, 0, _STEPS)
    ellipses = ((first + last) / 2, (last - first) / 2, arcs["start"], HEIGHT * far**_FLATTER)
    middle, width, start, height = (values.to_numpy(dtype=float)[:, None] for values in ellipses)
    along, away = middle + width * np.cos(angles), start + height * np.sin(angles)
    points = arcs.loc[arcs.index.repeat(_STEPS)]
    return points.assign(
        arc=points.index,
        step=np.tile(np.arange(_STEPS), len(arcs)),
        along=along.ravel(),
        away=points["side"] * away.ravel(),
    )


def _reach(lines: pd.DataFrame, starts: Mapping[int, float]) -> dict[int, float]:
    """Extent of each side's arcs beyond their start; 0 without arcs."""
    return {
        side: max([0.0, *(side * lines.loc[lines["side"] == side, "away"] - start)])
        for side, start in starts.items()
    }
