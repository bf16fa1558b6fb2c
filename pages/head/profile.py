"""Numbers of one head, each with its interval, the median head of the file, and its rank."""

from html import escape

import pandas as pd

from pages.charts.headline import joined
from pages.kit.habits import habit_name, habit_value
from pages.kit.head_choice import short_name
from pages.kit.section import Choices, Figure
from pages.kit.view import View
from pages.words.interval import interval as interval_phrase
from pages.words.numbers import offset_label, percent, signed
from pages.words.scope import say_here

_STYLE = """<style>
.facts {display: grid; grid-template-columns: repeat(auto-fit, minmax(8.6rem, 1fr));
 gap: .7rem 1.4rem}
.facts-label, .facts-note {font-size: .8rem; opacity: .75; overflow-wrap: anywhere}
.facts-value {font-size: 1.15rem; font-weight: 600; line-height: 1.25; overflow-wrap: anywhere}
</style>"""
_SHARES = ("effect", "sink", "relation", "coreference")


def show(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the numbers as a grid of facts."""
    facts = "".join(_fact(row) for _, row in frame.iterrows())
    name = short_name(choices["layer"], choices["head"])
    words = ["numbers_caption", *["numbers_ends"] * bool(frame["low"].notna().any())]
    caption = joined(view.say(word) for word in words)
    view.markup(
        figure.name, frame, f'{_STYLE}<div class="facts">{facts}</div>', caption=caption, head=name
    )


def _fact(row: pd.Series) -> str:
    """Markup of a number under its label, with its measure or the reason why it is missing."""
    name = row["name"]
    value = _written(row, row["value"])
    shown = {
        "habit": lambda: f"{habit_name(row['kind'])} {value}",
        "relation": lambda: f"{row['kind'].partition('|')[0]} {value}",
        "offset": lambda: offset_label(row["spread"]),
    }.get(name, lambda: value)()
    between = interval_phrase(row["low"], row["high"], lambda end: _written(row, end))
    level = pd.notna(row["level"]) and _written(row, row["level"])
    is_above = level and row["value"] > row["level"]
    direction = str(row["kind"]).partition("|")[2]
    note = say_here(
        f"fact_{name}_above" if name == "habit" and is_above else f"fact_{name}_note",
        level=level,
        spread=signed(row["spread"]),
        direction=direction and say_here(f"method_{direction}"),
    )
    against = say_here(
        "against", median=_written(row, row["median"]), rank=row["rank"], n=row["n_heads"]
    )
    interval = f"{between}; " if pd.notna(row["low"]) else ""
    fact = {
        "label": say_here(f"fact_{name}"),
        "value": shown,
        "note": f"{interval}{note} {against}",
    }
    parts = (f'<div class="facts-{kind}">{escape(text)}</div>' for kind, text in fact.items())
    return f"<div>{''.join(parts)}</div>"


def _written(row: pd.Series, value: float) -> str:
    """Format a value, or an end of its interval, in the unit of its row."""
    if row["name"] == "habit":
        return habit_value(row["kind"], value)
    return percent(value) if row["name"] in _SHARES else signed(value)
