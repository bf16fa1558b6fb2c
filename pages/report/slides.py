"""The collection one item a screen, turned by the arrow keys."""

import streamlit as st

from pages.report.shown import origin, show
from pages.ui.charts.headline import sentences
from pages.ui.choices.address import Choice, draw
from pages.ui.choices.pick import choose
from pages.ui.collection.collection import collected
from pages.ui.words.say import plain, say

_SLIDE = "rp_slide"
_HEIGHT = 440  # of a chart, in pixels


def slides() -> None:
    """The item that the address names, large, and the way to its neighbours."""
    items = collected().items
    if not items:
        st.info(say("report.empty"))
        return
    with st.container(horizontal=True, horizontal_alignment="distribute", key="slide"):
        n = _picked(len(items))
    item = items[n - 1]
    first, *others = sentences(item.finding) or [plain(item.question)]
    st.header(first, anchor=False)
    if item.finding:
        st.caption(plain(item.question))
    show(item, f"slide-{item.key}", height=_HEIGHT)
    for text in (plain(item.note), " ".join(others)):
        if text:
            st.markdown(text)
    st.caption(origin(item))


def _picked(n_items: int) -> int:
    """The slide, counted from 1, and the buttons beside its number."""
    place, last = st.columns([6, 1])[1], n_items
    with place, st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        before, number, after = st.container(), st.container(), st.container()
    choice = Choice(_SLIDE, range(1, last + 1), 1)
    with number:
        n = draw(
            choice,
            lambda: st.number_input(
                say("report.slide", of=last), 1, last, key=_SLIDE, label_visibility="collapsed"
            ),
        )
    for room, sign, to, key in ((before, "←", n - 1, "Left"), (after, "→", n + 1, "Right")):
        room.button(
            sign,
            key=f"slide-{key}",
            shortcut=key,
            disabled=not 1 <= to <= last,
            on_click=choose,
            args=(_SLIDE, to),
        )
    return n
