"""Sentences with their trees and a head's predictions, right and wrong."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.statistics import annotation
from analysis.statistics.norms.weighing import WEIGHT
from analysis.statistics.probing import dependency_accuracy, parser_input
from pages.syntax.arc_chart import arc_chart
from pages.syntax.arcs import drawing
from pages.syntax.choices import pick_chosen, pick_probe
from pages.syntax.names import direction_name, is_of
from pages.ui.charts.chart_theme import Chart, layered, ramp, tooltips
from pages.ui.charts.colours import MARKED
from pages.ui.choices.links import link_to_sequence
from pages.ui.choices.picker import choose
from pages.ui.head.choice import head_name
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.dependencies import relation_label
from pages.ui.words.lines import beginning
from pages.ui.words.numbers import count
from pages.ui.words.say import plain

_MOST = 500
_WIDEST, _READABLE, _LONGEST = 1_050, 70, 110
_SHOWN = ["word", "form", "relation", "governor", "predicted", "of_relation", "right"]
_WHICH = {
    "every": lambda frame: frame,
    "mistaken": lambda frame: frame[frame["n_right"] < frame["n"]],
    "right": lambda frame: frame[frame["n_right"] == frame["n"]],
}
_COLUMNS = ("attending", "attended", "attention")


@section("sentences", dependency_accuracy.TABLE, dependency_accuracy.PREDICTION, annotation.WORDS)
def sentences(view: View) -> None:
    chosen = pick_chosen(view)
    layer, head = pick_probe(view, chosen)
    place = {"layer": layer, "head": head, "direction": chosen.direction_of(view, layer, head)}
    probe = {**place, "merging": chosen.merging, "weighing": chosen.weighing}
    predictions = view.ask(
        dependency_accuracy.sentences, relation=chosen.relation, limit=_MOST, **probe
    )
    which = view.pick("which", list(_WHICH))
    arcs = view.pick("arcs", ["relation", "everything"])
    shown, relation = _WHICH[which](predictions), relation_label(chosen.relation)
    if shown.empty:
        return view.nothing(f"none_{which}", relation=relation)
    seq, sentence = _pick_sentence(view, shown)
    words = _words(view, seq, sentence, chosen.relation, probe)
    spaces = words["space_after"].map({True: " ", False: ""})
    view.note(f"> {plain(''.join(words['form'] + spaces))}")
    drawn = drawing(words, widest=_WIDEST, everything=arcs == "everything")
    caption = f"drawing_caption_{'upright' if drawn.upright else 'across'}"
    view.figure(
        "drawing",
        words[_SHOWN],
        arc_chart(drawn),
        state=(seq, sentence, *chosen, layer, head, arcs),
        caption=view.say(caption, direction=direction_name(probe["direction"])),
        relation=relation,
        head=head_name(layer, head),
    )
    with view.toolbar():
        view.to_section("heads")
        view.to_section("one_head")
    view.draw(link_to_sequence, seq)
    if chosen.weighing != WEIGHT:
        view.write("caption", view.say("weights_alone"))
    weights(view, words, seq=seq, layer=layer, head=head)
    view.table(
        "list",
        shown,
        ["seq", "n", "n_right", "text"],
        state=(*chosen, layer, head, which),
        click=lambda row: choose(view.key("sentence"), f"{row['seq']}-{row['sentence']}"),
        caption=view.say(
            f"list_{'cut' if len(predictions) == _MOST else 'whole'}", n=count(len(predictions))
        ),
        settings={"text": st.column_config.TextColumn(title("text"), width="large")},
        options={"height": 300},
    )


def _pick_sentence(view: View, shown: pd.DataFrame) -> tuple[int, int]:
    """Let the reader pick a sentence; by default one of medium length."""
    named = shown.assign(text=[beginning(text, _LONGEST) for text in shown["text"]])
    rows: list[dict[Any, Any]] = named.to_dict("records")
    labels = {f"{row['seq']}-{row['sentence']}": view.say("label", **row) for row in rows}
    readable = int((shown["text"].str.len() - _READABLE).abs().to_numpy().argmin())
    chosen = view.pick("sentence", labels, default=[*labels][readable], kind="select")
    seq, sentence = chosen.split("-")
    return int(seq), int(sentence)


def _words(inquiry: Inquiry, seq: int, sentence: int, relation: str, probe: dict) -> pd.DataFrame:
    """Words of a sentence with the head's prediction for each.

    Returns:
        word, form, relation, governor, predicted, of_relation, right, and more.
    """
    words = inquiry.ask(annotation.words, seq=seq)
    predicted = inquiry.ask(dependency_accuracy.of_sentence, seq=seq, **probe)
    words = words.merge(predicted, on="word")
    words = words[words["sentence"] == sentence].sort_values("word")
    words["predicted"] = _deciding(words)
    return words.assign(
        of_relation=[is_of(relation, label) for label in words["relation"]],
        right=words["predicted"] == words["governor"],
    ).reset_index(drop=True)


def _deciding(words: pd.DataFrame) -> pd.Series:
    """Prediction by which each word is scored.

    It is the word's own. If a treebank labels a possessor `poss`, it is that of the following ’s,
    as in the paper.
    """
    ending = words["form"].shift(-1).isin(["'s", "s'"]) & (words["relation"] == "poss")
    return words["predicted"].mask(ending, words["predicted"].shift(-1)).astype("int64")


def weights(view: View, words: pd.DataFrame, *, seq: int, layer: int, head: int) -> None:
    """Draw the attention map of the sentence, if the file stores its weights.

    Files store weights of the first texts only.
    """
    if not view.store.holds(parser_input.ATTENTION):
        return
    pairs = view.ask(parser_input.of_head, seq=seq, layer=layer, head=head)
    pairs = pairs[pairs["word"].isin(words["word"]) & pairs["candidate"].isin(words["word"])]
    if pairs.empty:
        view.write("caption", view.say("weights_none", n=parser_input.SHOWN))
        return
    state = (seq, words["sentence"].iloc[0], layer, head)
    view.figure("weights", pairs, weight_map(pairs, words), state=state)


def weight_map(pairs: pd.DataFrame, words: pd.DataFrame) -> Any:
    """Draw attending words down and attended words across; governors are framed."""
    forms = zip(words["word"].tolist(), words["form"], strict=True)
    names = {word: f"{form} {place}" for place, (word, form) in enumerate(forms, start=1)}
    governors = dict(zip(words["word"], words["governor"], strict=True))
    shown = pairs.assign(
        attending=pairs["word"].map(names),
        attended=pairs["candidate"].map(names),
        governs=pairs["word"].map(governors) == pairs["candidate"],
    )
    order = list(names.values())
    axis: dict[str, Any] = {"labelOverlap": False, "labelLimit": 120, "ticks": False}
    slanted, flat = alt.Axis(labelAngle=-60, **axis), alt.Axis(**axis)
    base = Chart(shown).encode(
        x=alt.X("attended:N", title=title("attended"), sort=order, axis=slanted),
        y=alt.Y("attending:N", title=title("attending"), sort=order, axis=flat),
        tooltip=tooltips(dict.fromkeys(_COLUMNS), shown, ".1%"),
    )
    scale = alt.Scale(type="sqrt", scheme="viridis", domainMin=0)
    colour = alt.Color("attention:Q", title=title("attention"), scale=scale, legend=ramp(".0%"))
    rings = base.transform_filter("datum.governs")
    rings = rings.mark_rect(filled=False, stroke=MARKED, strokeWidth=2)
    cells = base.mark_rect().encode(color=colour)
    return layered(cells, rings, height=21 * len(names) + 110)
