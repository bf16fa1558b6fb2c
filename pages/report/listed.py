"""List of the collection: title, notes and order, with downloads."""

import streamlit as st

from pages.charts.headline import sentences
from pages.export.collection import collected, keep
from pages.export.downloads import downloads
from pages.export.item import Item
from pages.report.shown import show
from pages.words.say import plain, say

_TITLE = "title of the collection"
_LONGEST_TITLE, _LONGEST_NOTE = 120, 2000  # letters


def listed() -> None:
    """Draw every item with its note, and the actions on all items."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if collected().items:
            _title()
            downloads(collected())
    if not collected().items:
        st.info(say("report.empty"))
    for place, item in enumerate(collected().items):
        with st.container(border=True):
            _entry(place, item)


def _title() -> None:
    st.session_state[_TITLE] = collected().title
    st.text_input(
        say("report.name"),
        key=_TITLE,
        max_chars=_LONGEST_TITLE,
        placeholder=say("collection.untitled"),
        on_change=lambda: keep(collected().titled(st.session_state[_TITLE])),
    )


def _entry(place: int, item: Item) -> None:
    drawn, written = st.columns([3, 2], gap="medium")
    with drawn:
        st.subheader(plain(item.question), anchor=False)
        show(item, f"report-{item.key}", small=True)
    with written:
        first, *others = sentences(item.finding) or [""]
        st.markdown(f"**{plain(first)}**" if first else "")
        st.caption(plain(" ".join(others)))
        _note(place, item)
        st.caption(plain(item.source))
        _buttons(place, item)


def _note(place: int, item: Item) -> None:
    key = f"note-{item.key}"
    st.session_state[key] = item.note
    st.text_area(
        say("report.note"),
        key=key,
        max_chars=_LONGEST_NOTE,
        placeholder=say("report.note_example"),
        height=80,
        on_change=lambda: keep(collected().noted(place, st.session_state[key])),
    )


def _buttons(place: int, item: Item) -> None:
    now, last = collected(), len(collected().items) - 1
    with st.container(horizontal=True, gap="xsmall"):
        for word, sign, to in (("up", "↑", place - 1), ("down", "↓", place + 1)):
            st.button(
                sign,
                key=f"{word}-{item.key}",
                help=say(f"report.{word}"),
                disabled=not 0 <= to <= last,
                on_click=lambda to=to: keep(now.moved(place, to)),
            )
        st.button(
            "✕",
            key=f"remove-{item.key}",
            help=say("report.remove"),
            on_click=lambda: keep(now.without(place)),
        )
        if item.link:
            st.link_button(say("collection.open"), item.link, type="tertiary")
