"""Numbers of one head, each with its interval, the median head of the file, and its rank."""

import pandas as pd

from pages.charts.headline import joined
from pages.kit.fact_grid import STYLE, Fact, fact_grid
from pages.kit.habits import habit_name, habit_value
from pages.kit.head_choice import short_name
from pages.kit.section import Choices, Figure
from pages.kit.view import View
from pages.words.interval import interval as interval_phrase
from pages.words.numbers import offset_label, percent, signed
from pages.words.scope import say_here

_SHARES = ("effect", "sink", "relation", "coreference")


def show(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the numbers as a grid of facts."""
    facts = [_fact(row) for _, row in frame.iterrows()]
    name = short_name(choices["layer"], choices["head"])
    words = ["numbers_caption", *["numbers_ends"] * bool(frame["low"].notna().any())]
    caption = joined(view.say(word) for word in words)
    view.markup(figure.name, frame, STYLE + fact_grid(facts), caption=caption, head=name)


def _fact(row: pd.Series) -> Fact:
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
    return Fact(say_here(f"fact_{name}"), shown, f"{interval}{note} {against}")


def _written(row: pd.Series, value: float) -> str:
    """Format a value, or an end of its interval, in the unit of its row."""
    if row["name"] == "habit":
        return habit_value(row["kind"], value)
    return percent(value) if row["name"] in _SHARES else signed(value)
