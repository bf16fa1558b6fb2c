"""Drawer with the facts on one head: its clearest text, its card, and a map of all heads."""

import streamlit as st

from analysis.statistics.heads import head_pattern
from pages.ui.charts.chart_theme import in_theme
from pages.ui.charts.head_map import head_map
from pages.ui.charts.shaded_sequence import sequence_name, texts_of_head
from pages.ui.charts.texts.head_in_text import HeadInText
from pages.ui.head.card import head_card
from pages.ui.head.choice import head_name
from pages.ui.head.habits import SHARES, habit_name, habit_value
from pages.ui.passages import Passage, draw_passages
from pages.ui.store.inquiry import Inquiry
from pages.ui.words.lines import with_capital
from pages.ui.words.say import say

_TOKENS = 18
"""Tokens of a long text: its lines fit above the card."""


def open_drawer(inquiry: Inquiry, layer: int, head: int) -> None:
    """Open the drawer of a head; layer and head are counted from 1."""
    title = with_capital(head_name(layer, head))
    st.dialog(title, width="medium", position="right")(_drawn)(inquiry, layer, head)


def _drawn(inquiry: Inquiry, layer: int, head: int) -> None:
    habit = _clearest(inquiry, layer, head)
    if habit:
        _text(inquiry, habit, layer, head)
    head_card(inquiry, layer=layer, head=head)
    if habit:
        _map(inquiry, habit, layer, head)


def _clearest(inquiry: Inquiry, layer: int, head: int) -> str | None:
    """Habit with the largest share in the head."""
    if not inquiry.store.holds(head_pattern.TABLE):
        return None
    means = inquiry.ask(head_pattern.of_head, layer=layer, head=head).set_index("quantity")["mean"]
    shares = means.reindex(SHARES).dropna()
    return None if shares.empty else str(shares.idxmax())


def _map(inquiry: Inquiry, habit: str, layer: int, head: int) -> None:
    """Draw the head's clearest habit for all heads, with a frame around this one."""
    heads = inquiry.ask(head_pattern.heads)
    title = habit_name(habit)
    chart = head_map(
        heads[heads["quantity"] == habit], "mean", title, format=".1%", marked=(layer, head)
    )
    st.subheader(say("head_card.map", habit=title), anchor=False)
    st.altair_chart(in_theme(chart), alt=say("head_card.map", habit=title))


def _text(inquiry: Inquiry, habit: str, layer: int, head: int) -> None:
    """Draw the text in which the head's habit is strongest."""
    if not inquiry.store.holds(head_pattern.PER_SEQUENCE):
        return
    of = {"layer": layer, "head": head}
    texts = inquiry.ask(head_pattern.extremes, **of, quantity=habit, limit=1)
    bodies, colours = texts_of_head(inquiry, texts, **of)
    for row, body in zip(texts.itertuples(), bodies, strict=True):
        seq, value = int(row.seq), habit_value(habit, float(row.value))
        name = sequence_name(inquiry, seq)
        heading = say("head_card.text", seq=name, habit=habit_name(habit), value=value)
        lines = HeadInText(seq, layer, head, most=_TOKENS)
        draw_passages(inquiry, colours, [Passage(f"**{heading}**", body, seq, head=lines)])
