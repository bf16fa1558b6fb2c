"""The texts in which a head shows a habit most, every token shaded by what it receives."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.heads import sequence_head_pattern
from analysis.tables.norms import head_token
from pages.ui.charts import shading
from pages.ui.charts.shaded_sequence import sequence_name, shaded_by
from pages.ui.figure import source
from pages.ui.head.habits import HABITS, SHARES, habit_name, habit_value
from pages.ui.store.chosen import ask, open_store
from pages.ui.view import View
from pages.ui.words.say import plain

_FORMAT = "{:.2%}"


def texts(view: View, own: pd.DataFrame, weighing: str) -> None:
    """The picker of the habit, and the texts.

    Args:
        own: the habits of one head: rows layer, head, quantity, mean.
        weighing: by which texts are chosen; shades are always of weights.
    """
    st.subheader(view.say("texts_title"), anchor=False)
    layer, head = (int(own[each].iloc[0]) for each in ("layer", "head"))
    habit, limit = _pick(view, own.dropna(subset="mean").set_index("quantity")["mean"])
    of = {"layer": layer, "head": head}
    best = ask(sequence_head_pattern.extremes, **of, quantity=habit, limit=limit, weighing=weighing)
    held = open_store().rows.get(head_token.TABLE.name)
    tokens = pd.DataFrame(columns=["seq", "attention"])
    if held:
        tokens = ask(head_token.sequence_tokens, **of, sequences=best["seq"].tolist())
    top = float(tokens["attention"].max()) if len(tokens) else 0.0
    if top > 0:
        st.html(shading.STYLE + shading.scale(view.say("received"), top, _FORMAT))
    else:
        st.caption(view.say("plain", statistic=head_token.TABLE.name))
    for place, row in enumerate(best.itertuples(), start=1):
        st.markdown(
            view.say(
                "text_heading",
                place=place,
                seq=sequence_name(row.seq),
                n=row.n_tokens,
                habit=habit_name(habit),
                value=habit_value(habit, float(row.value)),
            )
        )
        shown = tokens[tokens["seq"] == row.seq]
        if len(shown):
            st.html(shaded_by(shown, "attention", top, hint=lambda row: _hint(view, row)))
        else:
            st.markdown(plain(row.text))
    st.caption(f"{view.say(f'texts_caption_{weighing}')} {source()}")


def _hint(view: View, row: Mapping[Hashable, Any]) -> str:
    """What a token receives, for whoever points at it."""
    return view.say("received_by", token=row["token"], share=_FORMAT.format(row["attention"]))


def _pick(view: View, means: pd.Series) -> tuple[str, int]:
    """By which habit the texts are chosen, the clearest at first, and how many are shown."""
    habits = [each for each in HABITS if each in means]
    clearest = str(means.reindex([each for each in habits if each in SHARES]).idxmax())
    left, right = st.columns([3, 1])
    with left:
        habit = view.pick("habit", habits, default=clearest, kind="select")
    with right:
        return habit, view.number("texts", 1, 12, 3)
