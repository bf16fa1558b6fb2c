"""One text: its mentions, and the antecedents that a head or a rule picks, right and wrong."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.statistics import annotation
from analysis.statistics.probing import coreference_accuracy
from analysis.statistics.probing.coreference_accuracy import METHODS
from pages.coreference.choices import pick_best_head, pick_way
from pages.coreference.names import method_name, type_name
from pages.coreference.text_chart import phrase, text_chart
from pages.ui.choices.links import link_to_sequence
from pages.ui.head.choice import head_name
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.lines import beginning, with_capital
from pages.ui.words.numbers import count

_ARROWS = ("all", "right", "wrong")
_SHORT = 60  # characters of a text that stand in the picker


@section("documents", coreference_accuracy.PREDICTION, also=(annotation.MENTIONS,))
def documents(view: View) -> None:
    chosen, name = _pick_method(view)
    texts = view.ask(coreference_accuracy.by_sequence, **chosen)
    seq = _pick_text(view, texts)
    counts = texts.set_index("seq")[["n_right", "n"]]
    of_text, of_all = counts.loc[seq].map(count), counts.sum().map(count).add_prefix("all_")
    view.finding(view.say("finding", name=with_capital(name), **of_text, **of_all))
    words = view.ask(annotation.words, seq=seq)
    picked = view.ask(coreference_accuracy.of_sequence, seq=seq, **chosen)
    arrows = view.pick("arrows", _ARROWS)
    shown = picked if arrows == "all" else picked[picked["correct"] == (arrows == "right")]
    chart = text_chart(words, view.ask(annotation.mentions, seq=seq), shown)
    state = (seq, *chosen.values())
    view.figure("chart", picked, chart, state=(*state, arrows), method=name)
    view.draw(link_to_sequence, seq)
    _table(view, words, picked, state=state, method=name)


def _pick_method(view: View) -> tuple[dict[str, Any], str]:
    """Let the reader pick a head or a rule; return the query arguments and the display name."""
    method = view.pick("method", METHODS, default="head")
    if method != "head":
        return {"method": method}, method_name(method)
    choices = pick_way(view)
    layer, head = pick_best_head(view, choices)
    return {"method": method, **choices, "layer": layer, "head": head}, head_name(layer, head)


def _pick_text(view: View, texts: pd.DataFrame) -> int:
    """Let the reader pick a text, labelled by accuracy and beginning."""
    shown = texts.assign(text=[beginning(text, _SHORT) for text in texts["text"]])
    rows: list[dict[Any, Any]] = shown.to_dict("records")
    labels = {row["seq"]: view.say("label", **row) for row in rows}
    most = int(texts.nlargest(1, "n")["seq"].iloc[0])
    return view.pick("text", labels, default=most, kind="select")


def _table(view: View, words: pd.DataFrame, picked: pd.DataFrame, **values: Any) -> None:
    """Tabulate every mention with its predicted and its true antecedents."""
    forms = words["form"]
    spans = zip(picked["first_word"], picked["last_word"], strict=True)
    shown = picked.assign(
        text=[phrase(words, first, last) for first, last in spans],
        type=picked["mention_type"].map(type_name),
        head_form=picked["head_word"].map(forms),
        picked_form=picked["predicted"].map(forms),
        antecedent_form=picked["antecedent"].map(forms),
    )
    columns = ["text", "type", "head_form", "picked_form", "correct", "antecedent_form"]
    correct = {"correct": st.column_config.CheckboxColumn(title("correct"))}
    view.table("table", shown, columns, settings=correct, **values)
