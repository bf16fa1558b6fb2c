"""Slide show of the collection, one item per screen, with the arrow keys."""

from typing import Any

import streamlit as st

from pages.charts.headline import sentences
from pages.export.collection import collected
from pages.kit.address import Choice, choose, draw
from pages.report.shown import show
from pages.words.say import plain, say

_SLIDE = "rp_slide"


def slides(row: Any) -> None:
    """Draw the item that the address names.

    Args:
        row: place of the buttons to its neighbours.
    """
    items = collected().items
    if not items:
        st.info(say("report.empty"))
        return
    with row:
        n = _picked(len(items))
    item = items[n - 1]
    first, *others = sentences(item.finding) or [item.question]
    st.header(plain(first), anchor=False)
    if item.finding:
        st.caption(plain(item.question))
    show(item, f"slide-{item.key}")
    for text in (item.note, " ".join(others)):
        if text:
            st.markdown(plain(text))
    st.caption(plain(item.source))


def _picked(last: int) -> int:
    """Number of the slide, counted from 1, chosen by the buttons next to it."""
    with st.container(horizontal=True, horizontal_alignment="right", gap="xsmall"):
        before, number, after = (st.container(width="content") for _ in range(3))
    label, choice = say("report.slide", of=last), Choice(_SLIDE, range(1, last + 1), 1)
    names = {slide: f"{slide} / {last}" for slide in choice.options}
    with number:
        n = draw(
            choice,
            lambda: st.selectbox(
                label,
                names,
                key=_SLIDE,
                format_func=names.__getitem__,
                label_visibility="collapsed",
                width=110,
            ),
        )
    for room, word, to, key in (
        (before, "before", n - 1, "Left"),
        (after, "after", n + 1, "Right"),
    ):
        room.button(
            say(f"report.{word}"),
            key=f"slide-{key}",
            shortcut=key,
            disabled=not 1 <= to <= last,
            on_click=choose,
            args=(_SLIDE, to),
        )
    return n
