"""Colours are told apart by all eyes and in grey print; words stand out from either ground.

Distances are CIE76: Euclidean in CIELAB (D65). Eyes without one kind of cone are simulated in
linear RGB after Machado, Oliveira & Fernandes (2009), severity 1. Contrast is that of WCAG 2.2.
"""

from itertools import combinations, pairwise

import altair as alt
import numpy as np
import pandas as pd
import pytest

from analysis.relevance_rules import METHODS as RELEVANCE_METHODS
from analysis.relevance_rules import RULES
from analysis.scopes import ORDERS, WEIGHTS_WITH_RESIDUAL
from analysis.statistics.mixing import ATTENTION_ROLLOUT
from analysis.statistics.probing.accuracy import METHODS
from pages.charts import chart_theme
from pages.charts import colours as of
from pages.kit.behaviours import BEHAVIOURS
from pages.kit.habits import GROUPS

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


def lab(colour: str, seen: str = "normally") -> np.ndarray:
    """L*, a*, b*."""
    xyz = TO_XYZ @ np.clip(SEEN[seen] @ linear(colour), 0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def apart(one: str, other: str, seen: str = "normally") -> float:
    """ΔE of two colours."""
    return float(np.linalg.norm(lab(one, seen) - lab(other, seen)))


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
    assert all(apart(*pair, seen) >= APART for pair in pairs if pair[0] != pair[1])


@pytest.mark.parametrize("theme", PAPERS)
def test_colours_stand_out_from_the_ground(theme):
    """The palette fits both grounds, as exports need, and is brighter on a dark one."""
    shown = {*of.SYNTAX_COLOURS, of.NEUTRAL}.union(*LEGENDS.values())
    assert {colour for colour in shown if contrast(colour, PAPERS[theme]) < 3} == set()
    assert {colour for colour in shown if contrast(of.ON_DARK[colour], PAPERS["dark"]) < 4} == set()


def test_a_chart_has_the_colours_of_its_ground(monkeypatch):
    chart = alt.Chart(pd.DataFrame({"x": [1]})).mark_bar(color=of.SERIES_COLOURS[0])
    chart = chart.encode(fill=alt.Fill("x:N", scale=alt.Scale(range=[*of.SERIES_COLOURS])))
    for theme in PAPERS:
        monkeypatch.setattr(chart_theme, "ground", lambda theme=theme: theme)
        drawn = chart_theme.in_theme(chart).to_dict()
        expected = [
            of.ON_DARK[colour] if theme == "dark" else colour for colour in of.SERIES_COLOURS
        ]
        assert drawn["encoding"]["fill"]["scale"]["range"] == expected
        assert drawn["mark"]["color"] == expected[0]
    assert chart.mark.color == of.SERIES_COLOURS[0], "an export keeps the palette of white paper"


def test_a_colour_means_one_thing_on_all_pages():
    types, habits = of.TOKEN_TYPE_COLOURS, of.HABIT_COLOURS
    meanings = {
        **{name: types[name] for name in ("cls", "sep", "first")},
        **of.WEIGHING_COLOURS,
        "even": of.SINK_COLOURS["even"],
    }
    assert len(set(meanings.values())) == len(meanings) == 6
    for name, colour in meanings.items():
        for known in (types, habits, of.BEHAVIOUR_COLOURS, of.PLACE_COLOURS, of.SINK_COLOURS):
            assert known.get(name, colour) == colour
    assert of.SINK_COLOURS["attention"] == of.ATTENTION_COLOUR == meanings["weight"]
    assert of.SINK_COLOURS["norm_share"] == meanings["norm"]
    assert (habits["entropy_cls"], habits["uniform"]) == (types["cls"], meanings["even"])
    assert habits["sep_to_sep"] == types["sep"]
    of_words = {name: habits[name] for name in (*GROUPS["neighbours"], "entropy")}
    assert not set(of_words.values()) & set(meanings.values())
