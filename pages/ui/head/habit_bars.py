"""The habits of one head as bars of markup: how much of its attention goes where."""

from html import escape

import pandas as pd

from analysis.tables.heads import head_pattern
from pages.ui.head.habits import GROUPS, HABIT_COLOURS, habit_name, habit_value
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.say import say

STYLE = """<style>
.hc-habits {display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr));
 gap: .15rem 1.6rem; margin-top: .8rem; font-size: .85rem}
.hc-habit {display: grid; grid-template-columns: 7.4rem 1fr 3.6rem; gap: .6rem; align-items: center}
.hc-bar {height: .55rem; background: rgba(128, 128, 128, .18); border-radius: 3px}
.hc-bar div {height: 100%; border-radius: 3px}
.hc-share {text-align: right; font-variant-numeric: tabular-nums}
.hc-told {font-size: .8rem; opacity: .75; margin-top: .3rem}
</style>"""
_SHOWN = (*GROUPS["neighbours"], *GROUPS["special"])


def habit_bars(layer: int, head: int) -> str:
    """A bar per habit, the entropy in words; why there are none where the file has none."""
    held = open_store().holds(head_pattern.TABLE)
    found = ask(head_pattern.of_head, layer=layer, head=head) if held else None
    if found is None or found.empty:
        told = say("head_card.habits_lacking")
        return f'<div class="hc-told">{escape(say("head_card.habits"))} — {escape(told)}</div>'
    means = found.set_index("quantity")["mean"]
    bars = "".join(_bar(each, float(means[each])) for each in _SHOWN if each in means)
    return f'{STYLE}<div class="hc-habits">{bars}</div><div class="hc-told">{_told(means)}</div>'


def _bar(quantity: str, share: float) -> str:
    width = min(max(share, 0.0), 1.0)
    fill = f'<div style="width: {width:.1%}; background: {HABIT_COLOURS[quantity]}"></div>'
    return (
        f'<div class="hc-habit"><span>{escape(habit_name(quantity))}</span>'
        f'<div class="hc-bar">{fill}</div>'
        f'<span class="hc-share">{escape(habit_value(quantity, share))}</span></div>'
    )


def _told(means: pd.Series) -> str:
    entropy, uniform = (f"{means[each]:.2f}" for each in ("entropy", "uniform"))
    absent = [habit_name(each) for each in _SHOWN if each not in means]
    told = say("head_card.habits_note", entropy=entropy, uniform=uniform)
    if absent:
        names = say("list.comma").join(absent)
        told = f"{told} {say('head_card.habits_absent', names=names)}"
    return escape(told)
