"""One head: on which relations it is right, and whether a fixed offset does as well."""

import pandas as pd
import streamlit as st

from analysis.tables.probing import dependency_accuracy, dependency_baseline
from analysis.tables.probing.dependency_prediction import DIRECTIONS
from pages.syntax.accuracy_chart import CLICKED, accuracy_rows
from pages.syntax.choices import (
    LEAST,
    Chosen,
    pick_merging,
    pick_probe,
    pick_relation,
    to_view,
)
from pages.syntax.names import EVERYTHING, direction_name, relation_name, told_relation
from pages.syntax.trees import require_trees
from pages.ui.about import about
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.choices.clicks import clickable, fresh_click
from pages.ui.choices.pick import choose, pick_number
from pages.ui.figure import table
from pages.ui.head.card import head_card
from pages.ui.head.choice import HEAD, head_name
from pages.ui.store.chosen import ask
from pages.ui.weighing import pick_weighing
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import say

_ROWS, _SHOWN = "sy_head_rows", "sy_head_rows head"
_COLOURS = (SERIES_COLOURS[0], SERIES_COLOURS[2])


def show() -> None:
    require_trees(dependency_accuracy.TABLE, dependency_baseline.TABLE)
    _follow_click()
    st.header(say("syntax.one_head.title"), anchor=False)
    weighing = pick_weighing("sy")
    layer, head, merging, least = _pick(weighing)
    st.session_state[_SHOWN] = f"{layer}-{head}"
    head_card(layer=layer, head=head)
    scores = _scores(layer, head, merging, weighing)
    shown = scores[scores["n"] >= least]
    name = head_name(layer, head)
    if shown.empty:
        st.info(say("syntax.one_head.none", least=count(least)))
        return
    st.markdown(_finding(shown, name))
    key = f"{layer}_{head}_{merging}_{least}_{weighing}"
    _rows(shown, name, key)
    to_view("sentences", say("syntax.to_sentences"))
    _table(shown, name, key)
    about(dependency_accuracy.TABLE, dependency_baseline.TABLE)


def _follow_click() -> None:
    """Choose the relation that was clicked, and stay with the head even if it was the best one of
    another relation."""
    for row in fresh_click(_ROWS).get(CLICKED, [])[:1]:
        choose("sy_relation", str(row[CLICKED]))
        choose(HEAD, st.session_state.get(_SHOWN))


def _pick(weighing: str) -> tuple[int, int, str, int]:
    first, second, third, fourth = st.columns([4, 5, 4, 3])
    with third:
        merging = pick_merging()
    with first:
        relation = pick_relation()
    with second:
        layer, head = pick_probe(Chosen(relation, "either", merging, weighing))
    with fourth:
        least = pick_number("sy_least", say("syntax.relations.least"), 1, 100_000, LEAST)
    return layer, head, merging, least


def _scores(layer: int, head: int, merging: str, weighing: str) -> pd.DataFrame:
    """The head's accuracies, most above the best fixed offset first.

    Returns:
        relation, direction, n, accuracy, low, high, offset, offset_accuracy, difference, name,
        series.
    """
    way = {"merging": merging, "weighing": weighing}
    scores = ask(dependency_accuracy.of_head, layer=layer, head=head, **way)
    offsets = ask(dependency_baseline.baselines).sort_values("accuracy").groupby("relation").tail(1)
    offsets = offsets.rename(columns={"accuracy": "offset_accuracy"}).drop(columns="n")
    scores = scores.dropna(subset="accuracy").merge(offsets, on="relation", how="left")
    scores = scores.assign(
        difference=scores["accuracy"] - scores["offset_accuracy"],
        name=scores["relation"].map(relation_name),
        series=scores["direction"].map(direction_name),
    )
    return scores.sort_values("difference", ascending=False).reset_index(drop=True)


def _finding(shown: pd.DataFrame, name: str) -> str:
    """What the head does best, if it does anything better than a fixed offset."""
    relations = shown[~shown["relation"].isin(EVERYTHING)]
    beyond = relations[relations["low"] > relations["offset_accuracy"]]
    if beyond.empty:
        return say("syntax.one_head.finding_none", head=name)
    best = beyond.iloc[0]
    return say(
        "syntax.one_head.finding",
        head=name,
        n=beyond["relation"].nunique(),
        of=relations["relation"].nunique(),
        relation=told_relation(best["relation"]),
        direction=best["series"],
        accuracy=percent(best["accuracy"]),
        offset_accuracy=percent(best["offset_accuracy"]),
    )


def _rows(shown: pd.DataFrame, name: str, key: str) -> None:
    told = {
        "name": say("syntax.relation.label"),
        "series": say("syntax.direction.label"),
        "accuracy": say("syntax.accuracy"),
        "low": say("syntax.low"),
        "high": say("syntax.high"),
        "offset": say("syntax.offset.best"),
        "offset_accuracy": say("syntax.offset.accuracy"),
        "n": say("syntax.n"),
    }
    colours = dict(zip(map(direction_name, DIRECTIONS), _COLOURS, strict=True))
    order = list(dict.fromkeys(shown["name"]))
    clickable(
        accuracy_rows(shown, colours=colours, order=order, told=told),
        _ROWS,
        key=f"sy_head_rows_{key}",
        question=say("syntax.one_head.question", head=name),
        caption=say("syntax.one_head.caption"),
        frame=shown.drop(columns=["name", "series"]),
    )


def _table(shown: pd.DataFrame, name: str, key: str) -> None:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    table(
        shown,
        key=f"sy_head_table_{key}",
        question=say("syntax.one_head.table", head=name),
        caption=say("syntax.one_head.table_caption"),
        columns={
            "name": text(say("syntax.relation.label")),
            "series": text(say("syntax.direction.label")),
            "n": number(say("syntax.n"), format="localized"),
            "accuracy": number(say("syntax.accuracy"), format="percent"),
            "low": number(say("syntax.low"), format="percent"),
            "high": number(say("syntax.high"), format="percent"),
            "offset": number(say("syntax.offset.best"), format="%+d"),
            "offset_accuracy": number(say("syntax.offset.accuracy"), format="percent"),
            "difference": number(say("syntax.difference"), format="percent"),
        },
        placeholder="—",
    )
