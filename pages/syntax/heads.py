"""Every head on one relation: which ones find it, and in which direction they look."""

import pandas as pd
import streamlit as st

from analysis.tables.probing import dependency_accuracy, dependency_baseline
from pages.syntax.accuracy_chart import offset_bars
from pages.syntax.choices import Chosen, all_heads, pick_probe, to_view
from pages.syntax.names import direction_name, told_relation
from pages.syntax.pickers import pick_chosen
from pages.syntax.trees import require_trees
from pages.ui.about import about
from pages.ui.charts.colours import LOW_TO_HIGH
from pages.ui.charts.number_map import Ramp, number_map
from pages.ui.choices.clicks import clickable
from pages.ui.figure import figure
from pages.ui.head.card import head_card
from pages.ui.head.choice import follow_head_click, head_name
from pages.ui.store.chosen import ask, is_causal
from pages.ui.words.numbers import count, percent
from pages.ui.words.offsets import offset_told
from pages.ui.words.say import say

_MAP = "sy_map"


def show() -> None:
    require_trees(dependency_accuracy.TABLE, dependency_baseline.TABLE)
    follow_head_click(_MAP)
    st.header(say("syntax.heads.title"), anchor=False)
    chosen = pick_chosen()
    scores = all_heads(chosen).dropna(subset="accuracy")
    if scores.empty:
        st.info(say("syntax.heads.none", relation=told_relation(chosen.relation)))
        return
    offsets = _offsets(chosen.relation)
    st.markdown(_finding(scores, offsets, chosen))
    if is_causal():
        st.markdown(say("syntax.causal"))
    place = st.container()
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        layer, head = pick_probe(chosen)
    with right, st.container(horizontal=True):
        to_view("sentences", say("syntax.to_sentences"))
        to_view("one_head", say("syntax.to_one_head"))
    with place:
        _map(scores, chosen, (layer, head))
    head_card(layer=layer, head=head)
    _bars(offsets, chosen.relation)
    about(dependency_accuracy.TABLE, dependency_baseline.TABLE)


def _offsets(relation: str) -> pd.DataFrame:
    """What every fixed offset gets on a relation."""
    baselines = ask(dependency_baseline.baselines)
    return baselines[baselines["relation"] == relation].sort_values("offset")


def _finding(scores: pd.DataFrame, offsets: pd.DataFrame, chosen: Chosen) -> str:
    """The best head and how many others do better than the best fixed offset."""
    best = scores.nlargest(1, "accuracy").iloc[0]
    told = {
        "relation": told_relation(chosen.relation),
        "n": count(best["n"]),
        "head": head_name(int(best["layer"]), int(best["head"])),
        "direction": direction_name(str(best["direction"])),
        "accuracy": percent(best["accuracy"]),
        "low": percent(best["low"]),
        "high": percent(best["high"]),
    }
    sentence = say("syntax.heads.finding", **told)
    if offsets.empty:
        return sentence
    offset = offsets.nlargest(1, "accuracy").iloc[0]
    beyond = say(
        "syntax.heads.beyond",
        n=int((scores["accuracy"] > offset["accuracy"]).sum()),
        of=len(scores),
        offset=offset_told(offset["offset"]),
        accuracy=percent(offset["accuracy"]),
    )
    return f"{sentence} {beyond}"


def _map(scores: pd.DataFrame, chosen: Chosen, marked: tuple[int, int]) -> None:
    """Layers down, heads across, each with its accuracy."""
    layer, head = marked
    shown = scores.assign(
        direction_told=scores["direction"].map(direction_name),
        between=[
            f"{percent(low)} – {percent(high)}"
            for low, high in zip(scores["low"], scores["high"], strict=True)
        ],
    )
    titles = {
        "head": say("axis.head"),
        "layer": say("axis.layer"),
        "accuracy": say("syntax.accuracy"),
        "between": say("syntax.interval"),
        "direction_told": say("syntax.direction.label"),
        "n": say("syntax.n"),
    }
    chart = number_map(
        shown,
        x="head",
        y="layer",
        value="accuracy",
        titles=titles,
        orders={each: sorted(shown[each].unique().tolist()) for each in ("head", "layer")},
        colours=Ramp(LOW_TO_HIGH, 0.0, max(float(shown["accuracy"].max()), 0.01)),
        format=".0%",
        fields=("layer", "head"),
        marked={"layer": layer, "head": head},
    )
    clickable(
        chart,
        _MAP,
        key=f"sy_map_{chosen.key}_{layer}_{head}",
        question=say("syntax.heads.question", relation=told_relation(chosen.relation)),
        caption=say("syntax.heads.caption"),
        frame=scores,
    )


def _bars(offsets: pd.DataFrame, relation: str) -> None:
    """What always pointing to the word some steps away would get."""
    if offsets.empty:
        return
    question = say("syntax.heads.offsets", relation=told_relation(relation))
    figure(
        offset_bars(offsets),
        key=f"sy_offsets_{relation}",
        question=question,
        caption=say("syntax.heads.offsets_caption"),
        frame=offsets,
        alt=question,
    )
