"""Sentences with their tree and what a head points to, right and wrong."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables import annotation
from analysis.tables.norms.weighing import WEIGHT
from analysis.tables.probing import dependency_accuracy, dependency_prediction
from pages.syntax.arc_chart import arc_chart
from pages.syntax.arcs import drawing
from pages.syntax.choices import Chosen, direction_of, pick_probe, to_view
from pages.syntax.names import direction_name, is_of, told_relation
from pages.syntax.pickers import pick_chosen
from pages.syntax.trees import require_trees
from pages.syntax.weights import weights
from pages.ui.about import about
from pages.ui.choices.clicks import fresh_click, remember
from pages.ui.choices.pick import choose, pick
from pages.ui.figure import figure, table
from pages.ui.head.choice import head_name
from pages.ui.store.chosen import ask
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say

_MOST = 500
_LIST, _LISTED = "sy_list", "sy_list names"
_WIDEST, _READABLE = 1_050, 70
_WHICH = {
    "every": lambda frame: frame,
    "mistaken": lambda frame: frame[frame["n_right"] < frame["n"]],
    "right": lambda frame: frame[frame["n_right"] == frame["n"]],
}


def show() -> None:
    require_trees(dependency_accuracy.TABLE, dependency_prediction.TABLE)
    listed = st.session_state.get(_LISTED, {})
    for row in fresh_click(_LIST).get("rows", [])[:1]:
        choose("sy_sentence", listed.get(row))
    st.header(say("syntax.sentences.title"), anchor=False)
    chosen = pick_chosen()
    layer, head = _head_row(chosen)
    direction = direction_of(chosen, layer, head)
    probe = {
        "layer": layer,
        "head": head,
        "direction": direction,
        "merging": chosen.merging,
        "weighing": chosen.weighing,
    }
    found = ask(dependency_prediction.sentences, relation=chosen.relation, limit=_MOST, **probe)
    which, everything = _pick()
    shown = _WHICH[which](found).reset_index(drop=True)
    if shown.empty:
        st.info(say(f"syntax.sentences.none_{which}", relation=told_relation(chosen.relation)))
        return
    seq, sentence = _pick_sentence(shown)
    words = _words(seq, sentence, chosen.relation, probe)
    _arcs(words, (seq, sentence), chosen, probe, everything=everything)
    if chosen.weighing != WEIGHT:
        st.caption(say("syntax.weights.of_weights"))
    weights(words, seq=seq, sentence=sentence, layer=layer, head=head)
    _table(shown, len(found), f"{chosen.key}_{layer}_{head}_{which}")
    about(annotation.WORDS, dependency_prediction.TABLE)


def _head_row(chosen: Chosen) -> tuple[int, int]:
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        layer, head = pick_probe(chosen)
    with right, st.container(horizontal=True):
        to_view("heads", say("syntax.to_heads"))
        to_view("one_head", say("syntax.to_one_head"))
    return layer, head


def _pick() -> tuple[str, bool]:
    """Which sentences are offered, and whose arcs are drawn."""
    left, right = st.columns(2)
    with left:
        which = pick(
            "sy_which",
            say("syntax.sentences.which"),
            list(_WHICH),
            default="every",
            format=lambda each: say(f"syntax.sentences.which_{each}"),
        )
    with right:
        arcs = pick(
            "sy_arcs",
            say("syntax.sentences.arcs"),
            ["relation", "everything"],
            default="relation",
            format=lambda each: say(f"syntax.sentences.arcs_{each}"),
        )
    return which, arcs == "everything"


def _pick_sentence(shown: pd.DataFrame) -> tuple[int, int]:
    """A sentence of the list; one that is neither too short nor too long unless chosen."""
    labels = {_name(row): _label(row) for row in shown.itertuples()}
    readable = int((shown["text"].str.len() - _READABLE).abs().to_numpy().argmin())
    chosen = pick(
        "sy_sentence",
        say("syntax.sentences.sentence"),
        list(labels),
        default=list(labels)[readable],
        format=labels.__getitem__,
        kind="select",
        help=say("syntax.sentences.sentence_help"),
    )
    seq, sentence = chosen.split("-")
    return int(seq), int(sentence)


def _name(row: Any) -> str:
    return f"{row.seq}-{row.sentence}"


def _label(row: Any) -> str:
    text = row.text if len(row.text) <= 110 else f"{row.text[:110].rstrip()} …"
    return say("syntax.sentences.label", seq=row.seq, right=row.n_right, n=row.n, text=text)


def _words(seq: int, sentence: int, relation: str, probe: dict) -> pd.DataFrame:
    """The words of a sentence with what the head points to from each.

    Returns:
        word, form, relation, governor, predicted, of_relation, right, and more.
    """
    words = ask(annotation.words, seq=seq)
    predicted = ask(dependency_prediction.of_sentence, seq=seq, **probe)
    words = words.merge(predicted, on="word")
    words = words[words["sentence"] == sentence].sort_values("word")
    words["predicted"] = _deciding(words)
    return words.assign(
        of_relation=[is_of(relation, label) for label in words["relation"]],
        right=words["predicted"] == words["governor"],
    ).reset_index(drop=True)


def _deciding(words: pd.DataFrame) -> pd.Series:
    """What each word is scored by: its own prediction, or, where a treebank calls a possessor
    `poss`, that of the ’s behind it, as the paper has it."""
    behind = words["form"].shift(-1).isin(["'s", "s'"]) & (words["relation"] == "poss")
    return words["predicted"].mask(behind, words["predicted"].shift(-1)).astype("int64")


def _arcs(
    words: pd.DataFrame,
    place: tuple[int, int],
    chosen: Chosen,
    probe: dict,
    *,
    everything: bool,
) -> None:
    layer, head = probe["layer"], probe["head"]
    relation, direction = told_relation(chosen.relation), direction_name(probe["direction"])
    question = say("syntax.sentences.question", relation=relation, head=head_name(layer, head))
    drawn = drawing(words, widest=_WIDEST, everything=everything)
    text = "".join(
        form + " " * bool(space)
        for form, space in zip(words["form"], words["space_after"], strict=True)
    )
    st.markdown(f"> {plain(text)}")
    figure(
        arc_chart(drawn),
        key=f"sy_arcs_{place[0]}_{place[1]}_{chosen.key}_{layer}_{head}_{everything}",
        question=question,
        caption=say(
            f"syntax.sentences.caption_{'upright' if drawn.upright else 'across'}",
            direction=direction,
        ),
        frame=words[["word", "form", "relation", "governor", "predicted", "of_relation", "right"]],
        alt=question,
    )


def _table(shown: pd.DataFrame, n: int, key: str) -> None:
    number = st.column_config.NumberColumn
    st.session_state[_LISTED] = dict(enumerate(map(_name, shown.itertuples())))
    event = table(
        shown,
        key=f"sy_list_{key}",
        question=say("syntax.sentences.list"),
        caption=say(f"syntax.sentences.list_{'cut' if n == _MOST else 'whole'}", n=count(n)),
        columns={
            "seq": number(say("syntax.sentences.seq"), format="%d", width="small"),
            "n": number(say("syntax.sentences.n"), format="%d", width="small"),
            "n_right": number(say("syntax.sentences.n_right"), format="%d", width="small"),
            "text": st.column_config.TextColumn(say("syntax.sentences.text"), width="large"),
        },
        height=300,
        on_select="rerun",
        selection_mode="single-row",
    )
    remember(_LIST, f"sy_list_{key}", event)
