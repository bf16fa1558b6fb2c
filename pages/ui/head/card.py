"""Card with the facts on one head, the same on every page."""

from html import escape

import pandas as pd
import streamlit as st

from analysis.statistics.heads import head_pattern
from pages.ui.charts.colours import HABIT_COLOURS
from pages.ui.choices.links import VIEWS, link
from pages.ui.fact_grid import STYLE, fact_grid
from pages.ui.head.choice import HEAD, head_name
from pages.ui.head.facts import facts
from pages.ui.head.habits import GROUPS, habit_name, habit_value
from pages.ui.store.absences import FIRST
from pages.ui.store.inquiry import Inquiry
from pages.ui.store.open_file import Store
from pages.ui.words.lines import with_capital
from pages.ui.words.say import say

PLACES = (
    ("habits", "one_head"),
    ("head_map", "map"),
    ("syntax", "one_head"),
    ("coreference", "heads"),
    ("norms", "head"),
    ("positions", "one_head"),
    ("sinks", "heads"),
)
"""The sections that show one head, by page and view."""
_OF_WORDS = ("syntax", "coreference")
_STYLE = """<style>
.hc-title {font-weight: 600; font-size: 1.15rem; margin-bottom: .5rem}
.hc-habits {display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr));
 gap: .15rem 1.6rem; margin-top: .8rem; font-size: .85rem}
.hc-habit {display: grid; grid-template-columns: 7.4rem 1fr 3.6rem; gap: .6rem; align-items: center}
.hc-bar {height: .55rem; background: rgba(128, 128, 128, .18); border-radius: 3px}
.hc-bar div {height: 100%; border-radius: 3px}
.hc-share {text-align: right; font-variant-numeric: tabular-nums}
.hc-note {font-size: .8rem; opacity: .75; margin-top: .3rem}
</style>"""
_SHOWN = (*GROUPS["neighbours"], *GROUPS["special"])


def head_card(inquiry: Inquiry, *, layer: int, head: int) -> None:
    """Draw the card of a head, with links to every section that shows it.

    It has habits, behaviour, best relation, share of the norm, preferred offset and sink rate. A
    fact that the file lacks is replaced by the reason.

    Args:
        layer: from 1, as `head`.
    """
    with st.container(border=True):
        title = f'<div class="hc-title">{escape(with_capital(head_name(layer, head)))}</div>'
        st.html(
            STYLE
            + _STYLE
            + title
            + fact_grid(facts(inquiry, layer, head))
            + habit_bars(inquiry, layer, head)
        )
        with st.container(horizontal=True):
            for page, view in places(inquiry.store):
                choices = {VIEWS[page]: view, HEAD: f"{layer}-{head}"}
                link(page, say(f"head_card.link_{page}"), **choices)


def places(store: Store) -> list[tuple[str, str]]:
    """Entries of `PLACES` that apply to the kind of the open file."""
    return [place for place in PLACES if not (place[0] in _OF_WORDS and store.shows_images)]


def habit_bars(inquiry: Inquiry, layer: int, head: int) -> str:
    """Markup with a bar per habit and the entropy as text; the reason if the file has no habits."""
    held = inquiry.store.holds(head_pattern.TABLE)
    habits = inquiry.ask(head_pattern.of_head, layer=layer, head=head) if held else None
    if habits is None or habits.empty:
        note = say("head_card.habits_lacking")
        return f'<div class="hc-note">{escape(say("head_card.habits"))} — {escape(note)}</div>'
    means = habits.set_index("quantity")["mean"]
    bars = "".join(
        _bar(quantity, float(means[quantity])) for quantity in _SHOWN if quantity in means
    )
    note = f'<div class="hc-note">{_note(means)}</div>'
    return f'<div class="hc-habits">{bars}</div>{note}'


def _bar(quantity: str, share: float) -> str:
    width = min(max(share, 0.0), 1.0)
    fill = f'<div style="width: {width:.1%}; background: {HABIT_COLOURS[quantity]}"></div>'
    return (
        f'<div class="hc-habit"><span>{escape(habit_name(quantity))}</span>'
        f'<div class="hc-bar">{fill}</div>'
        f'<span class="hc-share">{escape(habit_value(quantity, share))}</span></div>'
    )


def _note(means: pd.Series) -> str:
    entropy, uniform = (f"{means[quantity]:.2f}" for quantity in ("entropy", "uniform"))
    absent = [habit_name(name) for name in _SHOWN if name not in means and name != FIRST]
    note = say("head_card.habits_note", entropy=entropy, uniform=uniform)
    if absent:
        names = say("list.comma").join(absent)
        note = f"{note} {say('head_card.habits_absent', names=names)}"
    return escape(note)
