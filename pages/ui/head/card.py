"""What is known about one head, on one card that is the same on every page."""

from html import escape

import streamlit as st

from pages.ui.choices.links import VIEWS, link
from pages.ui.head.choice import HEAD, head_name
from pages.ui.head.facts import Fact, facts
from pages.ui.head.habit_bars import habit_bars
from pages.ui.store.chosen import shows_images
from pages.ui.words.say import say

_STYLE = """<style>
.hc-title {font-weight: 600; font-size: 1.15rem; margin-bottom: .5rem}
.hc-facts {display: grid; grid-template-columns: repeat(auto-fit, minmax(8.6rem, 1fr));
 gap: .7rem 1.4rem}
.hc-label, .hc-note {font-size: .8rem; opacity: .75; overflow-wrap: anywhere}
.hc-value {font-size: 1.1rem; font-weight: 600; overflow-wrap: anywhere}
</style>"""
PLACES = (
    ("head_habits", "one_head"),
    ("head_map", "map"),
    ("syntax", "one_head"),
    ("coreference", "heads"),
    ("attention_norms", "head"),
    ("positions", "one_head"),
)
"""The sections that show one head, by page and view."""
_OF_WORDS = ("syntax", "coreference")


def head_card(*, layer: int, head: int) -> None:
    """Habits, behaviour, best relation, share of the norm and preferred offset of a head, and the
    way to every section that shows it. What the file does not tell stands there with the reason.

    Args:
        layer: from 1, as `head`.
    """
    with st.container(border=True):
        st.html(_STYLE + _title(layer, head) + _grid(facts(layer, head)) + habit_bars(layer, head))
        with st.container(horizontal=True):
            for page, view in places():
                choices = {VIEWS[page]: view, HEAD: f"{layer}-{head}"}
                link(page, say(f"head_card.link_{page}"), **choices)


def places() -> list[tuple[str, str]]:
    """Those of `PLACES` that can show something of the open file."""
    return [place for place in PLACES if not (place[0] in _OF_WORDS and shows_images())]


def _title(layer: int, head: int) -> str:
    return f'<div class="hc-title">{escape(head_name(layer, head))}</div>'


def _grid(found: list[Fact]) -> str:
    return f'<div class="hc-facts">{"".join(map(_fact, found))}</div>'


def _fact(fact: Fact) -> str:
    parts = (("label", fact.label), ("value", fact.value), ("note", fact.note))
    told = (f'<div class="hc-{name}">{escape(text)}</div>' for name, text in parts)
    return f"<div>{''.join(told)}</div>"
