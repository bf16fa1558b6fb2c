"""Sentences with their tree and what a head points to, right and wrong."""

import pandas as pd
import streamlit as st

from analysis.tables import annotation
from analysis.tables.norms.weighing import WEIGHT
from analysis.tables.probing import dependency_accuracy, dependency_prediction
from pages.syntax.arc_chart import arc_chart
from pages.syntax.arcs import drawing
from pages.syntax.choices import pick_chosen, pick_probe, to_sections
from pages.syntax.names import direction_name, is_of, relation_label
from pages.syntax.weights import weights
from pages.ui.choices.pick import choose
from pages.ui.head.choice import head_name
from pages.ui.page import section
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.words.columns import title
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


@section("sentences", dependency_accuracy.TABLE, dependency_prediction.TABLE, annotation.WORDS)
def sentences(view: View) -> None:
    for row in view.clicked("list")[:1]:
        choose(view.key("sentence"), f"{row['seq']}-{row['sentence']}")
    chosen = pick_chosen(view)
    with view.toolbar():
        layer, head = pick_probe(view, chosen)
        to_sections(view, "heads", "one_head")
    probe = {
        "layer": layer,
        "head": head,
        "direction": chosen.direction_of(layer, head),
        "merging": chosen.merging,
        "weighing": chosen.weighing,
    }
    found = ask(dependency_prediction.sentences, relation=chosen.relation, limit=_MOST, **probe)
    with view.toolbar():
        which = view.pick("which", list(_WHICH))
        arcs = view.pick("arcs", ["relation", "everything"])
    shown, relation = _WHICH[which](found), relation_label(chosen.relation)
    if shown.empty:
        st.info(view.say(f"none_{which}", relation=relation))
        return
    seq, sentence = _pick_sentence(view, shown)
    words = _words(seq, sentence, chosen.relation, probe)
    spaces = words["space_after"].map({True: " ", False: ""})
    st.markdown(f"> {plain(''.join(words['form'] + spaces))}")
    drawn = drawing(words, widest=_WIDEST, everything=arcs == "everything")
    caption = f"drawing_caption_{'upright' if drawn.upright else 'across'}"
    view.figure(
        "drawing",
        words[_SHOWN],
        arc_chart(drawn),
        state=f"{seq}_{sentence}_{chosen.key}_{layer}_{head}_{arcs}",
        caption=view.say(caption, direction=direction_name(probe["direction"])),
        relation=relation,
        head=head_name(layer, head),
    )
    if chosen.weighing != WEIGHT:
        st.caption(view.say("weights_alone"))
    weights(view, words, seq=seq, layer=layer, head=head)
    view.table(
        "list",
        shown,
        ["seq", "n", "n_right", "text"],
        state=f"{chosen.key}_{layer}_{head}_{which}",
        click=("seq", "sentence"),
        caption=view.say(f"list_{'cut' if len(found) == _MOST else 'whole'}", n=count(len(found))),
        settings={"text": st.column_config.TextColumn(title("text"), width="large")},
        options={"height": 300},
    )


def _pick_sentence(view: View, shown: pd.DataFrame) -> tuple[int, int]:
    """A sentence of the list; one that is neither too short nor too long unless chosen."""
    labels = {}
    for row in shown.to_dict("records"):
        text = row["text"]
        short = text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()} …"
        place = {"seq": row["seq"], "right": row["n_right"], "n": row["n"]}
        labels[f"{row['seq']}-{row['sentence']}"] = view.say("label", text=short, **place)
    readable = int((shown["text"].str.len() - _READABLE).abs().to_numpy().argmin())
    chosen = view.pick("sentence", labels, default=[*labels][readable], kind="select")
    seq, sentence = chosen.split("-")
    return int(seq), int(sentence)


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
    `poss`, that of the ’s after it, as the paper has it."""
    ending = words["form"].shift(-1).isin(["'s", "s'"]) & (words["relation"] == "poss")
    return words["predicted"].mask(ending, words["predicted"].shift(-1)).astype("int64")
