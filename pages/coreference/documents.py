"""One text: its mentions, the antecedents that a head or a rule picks, right and wrong."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables import annotation
from analysis.tables.probing import coreference_prediction
from analysis.tables.probing.coreference_prediction import METHODS
from pages.coreference.choices import (
    best_head,
    method_name,
    pick_antecedent_head,
    pick_merging,
    type_name,
)
from pages.coreference.mentions import require_mentions
from pages.coreference.text_chart import said, text_chart
from pages.ui.about import about
from pages.ui.choices.pick import pick
from pages.ui.figure import figure, table
from pages.ui.head.choice import head_name
from pages.ui.store.chosen import ask
from pages.ui.weighing import pick_weighing
from pages.ui.words.numbers import count
from pages.ui.words.say import say

_ARROWS = ("all", "right", "wrong")
_SHORT = 60  # characters of a text that stand in the picker


def show() -> None:
    require_mentions(coreference_prediction.TABLE)
    st.header(say("coreference.documents.title"), anchor=False)
    st.markdown(say("coreference.documents.meaning"))
    chosen, name = _pick_method()
    texts = ask(coreference_prediction.by_sequence, **chosen)
    seq = _pick_text(texts)
    row = texts[texts["seq"] == seq].iloc[0]
    told = {"n_right": count(row["n_right"]), "n": count(row["n"])}
    every = {"all_right": count(texts["n_right"].sum()), "all": count(texts["n"].sum())}
    st.markdown(say("coreference.documents.finding", name=name, **told, **every))
    words = ask(annotation.words, seq=seq)
    picked = ask(coreference_prediction.of_sequence, seq=seq, **chosen)
    key = f"{seq}_{'_'.join(map(str, chosen.values()))}"
    _text(words, seq, picked, key=key, name=name)
    _table(words, picked, key=key, name=name)
    about(coreference_prediction.TABLE, annotation.MENTIONS)


def _pick_method() -> tuple[dict[str, Any], str]:
    """A head or a rule: what the queries take, and what it is called."""
    method = pick(
        "co_method",
        say("coreference.method"),
        METHODS,
        default="head",
        format=method_name,
        help=say("coreference.method_help"),
    )
    if method != "head":
        return {"method": method}, method_name(method)
    weighing = pick_weighing("co")
    left, right = st.columns(2)
    with left:
        merging = pick_merging()
    with right:
        layer, head = pick_antecedent_head(best_head(merging, weighing))
    way = {"merging": merging, "weighing": weighing}
    return {"method": method, **way, "layer": layer, "head": head}, head_name(layer, head)


def _pick_text(texts: pd.DataFrame) -> int:
    labels = {int(row["seq"]): _label(row) for row in texts.to_dict("records")}
    most = int(texts.nlargest(1, "n")["seq"].iloc[0])
    return pick(
        "co_text",
        say("coreference.documents.text"),
        list(labels),
        default=most,
        format=labels.__getitem__,
        kind="select",
        help=say("coreference.documents.text_help"),
    )


def _label(row: dict[Any, Any]) -> str:
    text = str(row["text"])
    shown = f"{text[:_SHORT].rstrip()} …" if len(text) > _SHORT else text
    told = {"seq": row["seq"], "n_right": row["n_right"], "n": row["n"]}
    return say("coreference.documents.label", text=shown, **told)


def _text(words: pd.DataFrame, seq: int, picked: pd.DataFrame, *, key: str, name: str) -> None:
    arrows = pick(
        "co_arrows",
        say("coreference.documents.arrows"),
        _ARROWS,
        default=_ARROWS[0],
        format=lambda each: say(f"coreference.documents.arrows_{each}"),
    )
    shown = picked if arrows == "all" else picked[picked["correct"] == (arrows == "right")]
    question = say("coreference.documents.chart", name=name)
    figure(
        text_chart(words, ask(annotation.mentions, seq=seq), shown),
        key=f"co_text_{key}_{arrows}",
        question=question,
        caption=say("coreference.documents.chart_caption"),
        frame=picked,
        alt=question,
    )


def _table(words: pd.DataFrame, picked: pd.DataFrame, *, key: str, name: str) -> None:
    forms = words["form"].tolist()
    shown = picked.assign(
        text=[
            said(words, row["first_word"], row["last_word"]) for row in picked.to_dict("records")
        ],
        type=picked["mention_type"].map(type_name),
        head_form=[forms[each] for each in picked["head_word"]],
        picked_form=picked["predicted"].map(dict(enumerate(forms))),
        antecedent_form=[forms[each] for each in picked["antecedent"]],
    )
    table(
        shown,
        key=f"co_mentions_{key}",
        question=say("coreference.documents.table", name=name),
        caption=say("coreference.documents.table_caption"),
        columns={
            "text": say("coreference.documents.mention"),
            "type": say("coreference.kind"),
            "head_form": say("coreference.documents.head_word"),
            "picked_form": say("coreference.documents.picked"),
            "correct": st.column_config.CheckboxColumn(say("coreference.documents.right")),
            "antecedent_form": say("coreference.documents.antecedent"),
        },
        placeholder="—",
    )
