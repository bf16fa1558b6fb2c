"""Slides: one view on each, as large as the screen, with nothing of the page around it."""

from base64 import b64encode
from collections.abc import Callable
from html import escape

import streamlit as st

from pages.charts.chart_theme import ground
from pages.drawn import shading
from pages.export.drawing import not_drawn
from pages.export.item import Item
from pages.export.picture import picture
from pages.export.web import numbers
from pages.kit.address import Choice, choose, chosen, draw
from pages.words.say import say

PRESENT, _SLIDE = "present", "slide"
"""Parameters of the address: whether slides are shown, and which."""
MOST_ROWS = 12
"""Row limit of a list on a slide."""
_WIDTH, _HEIGHT = 1210, 520
"""Room of a picture on a slide 1280 pixels wide, whose height is 9/16 of that."""
_STYLE = """<style>
[data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stExpandSidebarButton"],
 .st-key-bar, .st-key-sections, .st-key-presenting {display: none !important}
.slide {position: fixed; inset: 0; margin: auto; width: min(100vw, 177.78vh); aspect-ratio: 16 / 9;
 container-type: size; z-index: 90}
.slide > div {box-sizing: border-box; height: 100%; padding: 2.6cqw 2.7cqw 1.4cqw; display: flex;
 flex-direction: column; gap: .7cqw; font-size: 1.35cqw; line-height: 1.35}
.slide h1 {font-size: 2.3cqw; line-height: 1.25; margin: 0; padding: 0; font-weight: 600}
.slide h1, .slide .more {display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2;
 overflow: hidden; flex-shrink: 0}
.slide .shown {flex: 1; min-height: 0; overflow: hidden; display: flex; align-items: center;
 justify-content: center}
.slide img {max-width: 100%; max-height: 100%; width: 100%; height: 100%; object-fit: contain}
.slide .text {width: 100%; max-height: 100%; overflow: hidden; align-self: start}
.slide table {width: 100%; border-collapse: collapse; table-layout: fixed}
.slide :is(td, th) {padding: .25cqw .8cqw .25cqw 0; text-align: left; overflow: hidden;
 white-space: nowrap; text-overflow: ellipsis; border-bottom: 1px solid #88888855}
.slide td[data-value] {text-align: right}
.slide .source {font-size: 1.05cqw; opacity: .8; white-space: nowrap; overflow: hidden;
 text-overflow: ellipsis; flex-shrink: 0; padding-right: 24cqw}
.st-key-steps {position: fixed; right: .8rem; bottom: .3rem; z-index: 91; width: auto}
.st-key-steps button {min-height: 0; padding: 0 .4rem; opacity: .6}
</style>"""


def present_toggle() -> bool:
    """Draw the switch of a page that has slides; return True while they are to be shown."""
    with st.container(key="presenting"):
        return draw(
            Choice(PRESENT, (False, True), default=False),
            lambda: st.toggle(say("page.present"), key=PRESENT, help=say("page.present_help")),
        )


def slides(n: int, item_of: Callable[[int], Item]) -> None:
    """Draw the slide that the address names, and buttons to its neighbours and out.

    Args:
        item_of: returns an item by its place from 0.
    """
    at = chosen(Choice(_SLIDE, range(1, n + 1), 1)) if n else 0
    item = item_of(at - 1) if n else Item(say("page.no_slides"))
    st.html(_STYLE + shading.STYLE + _slide(item))
    steps = (
        ("before", "Left", _SLIDE, at - 1),
        ("after", "Right", _SLIDE, at + 1),
        ("leave", "Escape", PRESENT, False),
    )
    with st.container(horizontal=True, gap="xsmall", key="steps", vertical_alignment="center"):
        st.caption(f"{at} / {n}", width="content")
        for word, key, parameter, to in steps:
            st.button(
                say(f"page.{word}"),
                key=f"slide-{key}",
                shortcut=key,
                type="tertiary",
                disabled=parameter == _SLIDE and not 1 <= to <= n,
                on_click=choose,
                args=(parameter, to),
            )


def _slide(item: Item) -> str:
    """Headline of at most two lines, the view, a note, and the source in one line."""
    first, *others = item.said
    note = " · ".join(filter(None, (item.note, item.question if item.finding else "", *others)))
    parts = (
        f"<h1>{escape(first)}</h1>",
        f'<div class="shown">{_view(item)}</div>',
        f'<div class="more">{escape(note)}</div>' if note else "",
        f'<div class="source">{escape(item.source)}</div>',
    )
    return f'<div class="slide"><div>{"".join(parts)}</div></div>'


def _view(item: Item) -> str:
    if item.chart:
        drawn = picture(item.chart, ground(), _WIDTH, _HEIGHT)
        data = f"data:image/png;base64,{b64encode(drawn).decode()}"
        alt = escape(f"{item.question} {item.finding}".strip())
        return f'<img src="{data}" alt="{alt}">' if drawn else escape(not_drawn())
    if item.body:
        return f'<div class="text">{item.body}</div>'
    return numbers(item, MOST_ROWS) if item.columns else ""
