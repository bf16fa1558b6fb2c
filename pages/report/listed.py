"""List of the collection: title, notes and order, with downloads."""

from collections.abc import Callable

import streamlit as st

from pages.charts.chart_theme import ground
from pages.drawn import shading
from pages.export.collection import (
    LONGEST_NOTE,
    LONGEST_TITLE,
    Collection,
    Kept,
    collected,
    keep,
    place_of,
    read,
)
from pages.export.downloads import downloads
from pages.export.drawing import not_drawn
from pages.export.item import Item
from pages.export.picture import picture
from pages.kit.addressed import item_at
from pages.kit.links import link
from pages.words.say import plain, say

_TITLE, _FILE = "title of the collection", "file of the collection"
_WIDTH, _HEIGHT = 560, 360  # pixels of a picture


def listed() -> None:
    """Draw every item with its note, and the actions on all items."""
    kept = collected()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if kept.items:
            st.session_state[_TITLE] = kept.title
            st.text_input(
                say("report.name"),
                key=_TITLE,
                max_chars=LONGEST_TITLE,
                placeholder=say("collection.untitled"),
                on_change=lambda: keep(Collection(st.session_state[_TITLE], kept.items)),
            )
            downloads(kept.title, lambda: [item_at(item) for item in kept.items])
            name, mime = "mixscope-report.json", "application/json"
            text = say("report.save"), kept.written(), name, mime
            st.download_button(*text, help=say("report.save_help"), on_click="ignore")
        with st.popover(say("report.open")):
            label = say("report.open_help")
            st.file_uploader(label, type="json", key=_FILE, on_change=_opened)
    if not kept.items:
        st.info(say("report.empty"))
    st.html(shading.STYLE)
    for place, item in enumerate(kept.items):
        with st.container(border=True):
            _entry(place, item)


def _opened() -> None:
    """Take the collection of a file in place of the one that is there."""
    if (file := st.session_state[_FILE]) is None:
        return
    try:
        keep(read(file.getvalue().decode("utf-8")))
    except ValueError:  # of decoding, too
        st.toast(say("report.not_opened"))


def _entry(place: int, kept: Kept) -> None:
    item = item_at(kept)
    first, *others = item.said
    drawn, written = st.columns([3, 2], gap="medium")
    with drawn:
        st.subheader(plain(item.question), anchor=False)
        _content(item)
    with written:
        st.markdown(f"**{plain(first)}**")
        st.caption(plain(" ".join(others)))
        _note(place, kept)
        st.caption(plain(item.source))
        _buttons(place, kept)


def _content(item: Item) -> None:
    """Draw the picture of a chart, a text, or the numbers of a table."""
    if item.chart:
        if drawn := picture(item.chart, ground(), _WIDTH, _HEIGHT):
            st.image(drawn, width="stretch")
        else:
            st.warning(not_drawn())
    elif item.body:
        st.html(item.body)
    elif item.columns:
        st.dataframe(item.frame, hide_index=True, placeholder="—", alt=item.question)


def _note(place: int, kept: Kept) -> None:
    key = f"note-{kept.address}"
    st.session_state[key] = kept.note
    st.text_area(
        say("report.note"),
        key=key,
        max_chars=LONGEST_NOTE,
        placeholder=say("report.note_example"),
        height=80,
        on_change=lambda: keep(collected().noted(place, st.session_state[key])),
    )


def _buttons(place: int, kept: Kept) -> None:
    now = collected()
    changes: dict[str, tuple[str, Callable[[], Collection], bool]] = {
        "up": ("↑", lambda: now.moved(place, place - 1), place > 0),
        "down": ("↓", lambda: now.moved(place, place + 1), place < len(now.items) - 1),
        "remove": ("✕", lambda: now.without(place), True),
    }
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        for word, (sign, change, is_possible) in changes.items():
            st.button(
                sign,
                key=f"{word}-{kept.address}",
                help=say(f"report.{word}"),
                disabled=not is_possible,
                on_click=lambda change=change: keep(change()),
            )
        page, choices, _ = place_of(kept.address) or ("report", {}, "")
        link(page, say("collection.open"), **choices)
