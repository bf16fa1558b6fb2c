"""The texts in which a head shows a habit most, every token shaded by what it receives."""

from collections.abc import Hashable
from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.heads import sequence_head_pattern
from analysis.tables.norms import head_token
from pages.ui.charts import shading
from pages.ui.charts.shaded_sequence import sequence_name, shaded_sequence
from pages.ui.choices.pick import pick, pick_number
from pages.ui.figure import source
from pages.ui.head.habits import HABIT_COLOURS, SHARES, habit_name, habit_value
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.say import plain, say

_FORMAT = "{:.2%}"


def show(own: pd.DataFrame, weighing: str) -> None:
    """The picker of the habit, and the texts.

    Args:
        own: the habits of one head: rows layer, head, quantity, mean.
        weighing: by which texts are chosen; shades are always of weights.
    """
    st.subheader(say("head_habits.sequences.title"), anchor=False)
    layer, head = (int(own[each].iloc[0]) for each in ("layer", "head"))
    quantity, limit = _pick(own.dropna(subset="mean").set_index("quantity")["mean"])
    best = ask(
        sequence_head_pattern.extremes,
        layer=layer,
        head=head,
        quantity=quantity,
        limit=limit,
        weighing=weighing,
    )
    tokens = _tokens(layer, head, best)
    top = float(tokens["attention"].max()) if len(tokens) else 0.0
    _legend(top)
    for place, row in enumerate(best.to_dict("records"), start=1):
        _heading(place, row, quantity)
        shown = tokens[tokens["seq"] == row["seq"]]
        if len(shown):
            st.html(_shaded(shown, top))
        else:
            st.markdown(plain(row["text"]))
    st.caption(f"{say(f'head_habits.sequences.caption_{weighing}')} {source()}")


def _legend(top: float) -> None:
    """What the shades stand for, or why there are none."""
    if top > 0:
        told = say("head_habits.sequences.received")
        st.html(shading.STYLE + shading.scale(told, top, _FORMAT))
    else:
        st.caption(say("head_habits.sequences.plain", statistic=head_token.TABLE.name))


def _heading(place: int, row: dict[Hashable, Any], quantity: str) -> None:
    told = say(
        "head_habits.sequences.heading",
        place=place,
        seq=sequence_name(row["seq"]),
        n=row["n_tokens"],
        habit=habit_name(quantity),
        value=habit_value(quantity, float(row["value"])),
    )
    st.markdown(told)


def _pick(means: pd.Series) -> tuple[str, int]:
    """By which habit the texts are chosen, unless told by the clearest, and how many are shown."""
    habits = [each for each in HABIT_COLOURS if each in means and each != "uniform"]
    shares = means.reindex([each for each in habits if each in SHARES])
    left, right = st.columns([3, 1])
    with left:
        quantity = pick(
            "hh_habit",
            say("head_habits.sequences.habit"),
            habits,
            default=str(shares.idxmax()),
            format=habit_name,
            kind="select",
        )
    with right:
        limit = pick_number("hh_texts", say("head_habits.sequences.limit"), 1, 12, 3)
    return quantity, limit


def _tokens(layer: int, head: int, best: pd.DataFrame) -> pd.DataFrame:
    """What the tokens of the texts receive; nothing where the file does not tell."""
    if not open_store().rows.get(head_token.TABLE.name):
        return pd.DataFrame({"seq": [], "attention": []})
    return ask(head_token.sequence_tokens, layer=layer, head=head, sequences=best["seq"].tolist())


def _shaded(tokens: pd.DataFrame, top: float) -> str:
    rows = tokens.to_dict("records")
    shaded = [
        shading.Shaded(
            row["token"],
            row["attention"],
            say(
                "head_habits.sequences.told",
                token=row["token"],
                share=_FORMAT.format(row["attention"]),
            ),
            False,
        )
        for row in rows
    ]
    return shaded_sequence(shaded, top)
