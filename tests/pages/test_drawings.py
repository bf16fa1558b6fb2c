"""Drawings and colours: what stands where, and is told apart by all eyes and in grey print."""

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.relevance_rules import METHODS as RELEVANCE_METHODS
from analysis.relevance_rules import RULES
from analysis.scopes import ORDERS, WEIGHTS_WITH_RESIDUAL
from analysis.statistics.mixing import ATTENTION_ROLLOUT
from analysis.statistics.probing.accuracy import METHODS
from pages.charts import colours as of
from pages.charts.colours import LESS_TO_MORE, LOW_TO_HIGH
from pages.charts.maps import Ramp
from pages.drawn.pieces import readable
from pages.drawn.shading import Shaded, Shades, text
from pages.kit.behaviours import BEHAVIOURS
from pages.kit.habits import GROUPS
from pages.positions.spectra.peaks import peaks
from pages.syntax.arcs import drawing


@settings(max_examples=25)
@given(st.lists(st.text(max_size=8), max_size=12))
def test_nothing_of_a_token_becomes_markup(tokens):
    shaded = [Shaded(token, 0.5, token, chosen=False) for token in tokens]
    body = text(shaded, Shades(1.0))
    assert body.count("<") == body.count(">") == 2 + 2 * len(tokens)
    assert body.count('"') == 2 + 4 * len(tokens)


def test_every_dependency_has_an_arc_on_its_side_and_of_the_head_those_of_the_relation():
    """A sentence whose second word alone is of the relation; the head is right on the first."""
    words = pd.DataFrame(
        {
            "word": range(7, 11),
            "form": ["The", "cat", "sat", "down"],
            "relation": ["det", "nsubj", "root", "advmod"],
            "governor": [8, 9, None, 9],
            "predicted": [8, 7, -1, 10],
            "of_relation": [False, True, False, False],
            "right": [True, False, False, False],
        }
    )
    for widest in (50, 10_000):
        drawn = drawing(words, {"arcs": "relation"}, widest=widest)
        assert drawn.upright is (widest == 50), "too long a sentence stands upright"
        centres, arcs = drawn.words["along"].to_numpy(), []
        for _, points in drawn.lines.sort_values("step").groupby("arc"):
            ends = points["along"].iloc[[0, -1]]
            start, end = (int(abs(centres - along).argmin()) for along in ends)
            arcs.append((points["kind"].iloc[0], start, end))
        expected = [("other", 1, 0), ("other", 2, 3), ("tree", 2, 1), ("wrong", 0, 1)]
        assert sorted(arcs) == expected
        tree = drawn.lines["kind"].isin(["tree", "other"])
        assert ((drawn.lines["away"] > 0) == tree).all()
        assert drawn.lines["along"].between(0, drawn.length).all()


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["[CLS]", "em", "##bed", "##ding", "##s", "[SEP]"], "[CLS] embeddings [SEP]"),
        (["in", "1774", ",", "he", "(", "a", "man", ")", "left", "."], "in 1774, he (a man) left."),
        (["<s>", "The", "Ġcat", "Ġsat", ".", "Ċ", "</s>"], "<s>The cat sat.\n</s>"),
        (["▁The", "▁cat", "s"], "The cats"),
        (["Ġcaf", "Ã©"], "café"),
    ],
)
def test_tokens_are_joined_as_they_are_read(tokens, expected):
    text = "".join(space + shown for space, shown in readable(tokens))
    assert text.replace("\u2009", "").strip() == expected  # a thin mark of parts of a character


@pytest.mark.parametrize(
    ("heights", "expected"),
    [
        ({20: 4, 50: 40, 100: 8, 180: 6}, [50, 100, 180]),  # the clearest three
        ({50: 1.9}, []),  # less than three times its valley
        ({50: 2.5}, [50]),
        ({50: 30, 60: 40}, [60]),  # within a third of an octave
        ({0: 1e6, 50: 10}, [50]),  # frequency 0 is no wave
        ({}, []),
    ],
)
def test_peaks_are_clear_apart_and_few(heights, expected):
    """A level of 1 with bumps of given frequency and height, a few cycles wide."""
    frequency = np.arange(257.0)
    bumps = (height * np.exp(-(((frequency - at) / 2) ** 2)) for at, height in heights.items())
    mean = 1 + sum(bumps, np.zeros(257))
    assert peaks(pd.DataFrame({"frequency": frequency, "mean": mean})) == expected


SEEN = {
    "normally": np.eye(3),
    "without red cones": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "without green cones": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
APART = 15.0
PAPERS = {theme: paper for theme, (paper, _) in of.PAPER_AND_INK.items()}
RULE = of.RELEVANCE_RULE_COLOURS
LEGENDS = {
    "token types": [*of.TOKEN_TYPE_COLOURS.values()],
    "series": [*of.SERIES_COLOURS, of.SERIES_COLOURS[0]],
    "relations": [*of.RELATION_COLOURS.values()],
    **{
        f"effects of {name}": [of.EFFECT_COLOURS[effect] for effect in order.effects]
        for name, order in ORDERS.items()
    },
    "behaviours": [of.BEHAVIOUR_COLOURS[behaviour] for behaviour in BEHAVIOURS],
    "entropies": [of.HABIT_COLOURS[habit] for habit in ("entropy", "entropy_cls", "uniform")],
    **{name: [of.HABIT_COLOURS[habit] for habit in group] for name, group in GROUPS.items()},
    **{
        f"{name}, {last}": [of.SCOPE_COLOURS[scope] for scope in (*order.scopes, last)]
        for name, order in ORDERS.items()
        for last in (WEIGHTS_WITH_RESIDUAL, ATTENTION_ROLLOUT)
    },
    "rules": [RULE[rule] for rule in (*RULES, *RELEVANCE_METHODS, "random")],
    "rules at first": [RULE[rule] for rule in (*RULES, "attention", "random")],
    "controls": [of.CONTROL_COLOURS[control] for control in ("kept", "removed", "permuted")],
    "groups": [*of.GROUP_COLOURS],
    "layers": [*of.SAME_LAYER_COLOURS],
    "weighings": [*of.WEIGHING_COLOURS.values()],
    "antecedents": [of.ANTECEDENT_COLOURS[method] for method in METHODS],
    "arrows": [*of.ARROW_COLOURS.values()],
    "mentions": [*of.MENTION_COLOURS, of.MENTION_COLOURS[0]],
    "pairs": [of.AMPLIFIED, of.ATTENUATED],
    "words of a pair": [*of.SOURCE_AND_TARGET],
    "arcs": [*of.ARC_COLOURS.values()],
    "head and layer": [*of.HEAD_AND_LAYER_COLOURS],
}
"""The colours of every legend in its order; those that start again end with the first."""
LARGE = ("groups",)
"""With more colours than dichromats tell apart: only neighbours are."""


def linear(colour: str) -> np.ndarray:
    """Linear RGB from 0 to 1."""
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(colour: str, seen: str) -> np.ndarray:
    """L*, a*, b*."""
    xyz = TO_XYZ @ np.clip(SEEN[seen] @ linear(colour), 0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one: str, other: str) -> float:
    """Contrast of two colours, from 1 to 21."""
    low, high = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", PAPERS)
@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("name", LEGENDS)
def test_colours_are_told_apart(name, seen, theme):
    """Any two of a legend, since what is absent is left out of it."""
    legend = [of.ON_DARK[colour] if theme == "dark" else colour for colour in LEGENDS[name]]
    pairs = pairwise(legend) if name in LARGE else combinations(legend, 2)
    assert all(
        np.linalg.norm(lab(one, seen) - lab(other, seen)) >= APART
        for one, other in pairs
        if one != other
    )


@pytest.mark.parametrize("theme", PAPERS)
def test_colours_stand_out_from_the_ground(theme):
    """The palette fits both grounds, as exports need, and is brighter on a dark one."""
    shown = {*of.SYNTAX_COLOURS, of.NEUTRAL}.union(*LEGENDS.values())
    assert {colour for colour in shown if contrast(colour, PAPERS[theme]) < 3} == set()
    assert {colour for colour in shown if contrast(of.ON_DARK[colour], PAPERS["dark"]) < 4} == set()


@pytest.mark.parametrize(
    "ramp", [Ramp(LOW_TO_HIGH, 0.7, 1.0), Ramp(LESS_TO_MORE, 1 / 64, 64.0, log=True)]
)
@given(value=st.floats(0, 100))
def test_every_number_is_readable_on_its_cell(ramp, value):
    ground = "#" + "".join(f"{round(channel):02x}" for channel in ramp.rgb(value))
    assert contrast(ramp.ink(value), ground) >= 4.4
