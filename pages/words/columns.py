"""Titles, number formats and value names of columns.

Axes, legends, tooltips and tables all use this module, so that they call a thing by the same name.
A section or a page with its own meaning of a column has the title under `column` in its words.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from pages.charts.colours import (
    EFFECT_COLOURS,
    HABIT_COLOURS,
    PLACE_COLOURS,
    RELATION_COLOURS,
    SCOPE_COLOURS,
    TOKEN_TYPE_COLOURS,
)
from pages.kit.habits import habit_name
from pages.words.lines import with_capital
from pages.words.names import (
    effect_name,
    paper_name,
    place_name,
    relation_name,
    scope_name,
    step_name,
    token_type_name,
)
from pages.words.say import say
from pages.words.scope import key_of, optional_word, say_here
from pages.words.units import title_in_unit, without_unit

NAMED = "_named"
"""Suffix of a column with display names."""
IN_PAPER = "_in_paper"
"""Suffix of a column with the names of the papers, for tooltips."""


@dataclass(frozen=True)
class Names:
    """Display names of a column's values, their colours in the order of a legend, and their names
    in the papers if these differ."""

    of: Callable[[Any], str]
    colours: Mapping[str, str]
    in_paper: Callable[[Any], str] | None = None


NAMES = {
    "token_type": Names(token_type_name, TOKEN_TYPE_COLOURS),
    "scope": Names(scope_name, SCOPE_COLOURS, paper_name),
    "scope_a": Names(scope_name, SCOPE_COLOURS, paper_name),
    "scope_b": Names(scope_name, SCOPE_COLOURS, paper_name),
    "step": Names(step_name, SCOPE_COLOURS),
    "effect": Names(effect_name, EFFECT_COLOURS),
    "relation": Names(relation_name, RELATION_COLOURS),
    "habit": Names(habit_name, HABIT_COLOURS),
    "place": Names(place_name, PLACE_COLOURS),
}
_FORMATS = {
    **dict.fromkeys(("layer", "head", "seq", "pos"), "%d"),
    **dict.fromkeys(("attention", "weighted_norm", "norm_share"), "%.4f"),
    **dict.fromkeys(("p_value", "p_value_weight", "p_value_norm"), "%.4f"),
}
_ENDS = ("low", "high")
_COUNT, _NUMBER = "localized", "%.3f"


def title(column: str) -> str:
    """Title of a column, with its unit.

    Ends of an interval have the titles of the ends of a mean, unless they have words of their own.
    """
    name = _bare(column)
    end = name.rpartition("_")[2]
    if end in _ENDS and not key_of(f"column.{name}"):
        name = end
    return title_in_unit(column, say_here(f"column.{name}"))


def _bare(column: str) -> str:
    """Name of a column in the words: without unit and suffix."""
    return without_unit(column).removesuffix(NAMED).removesuffix(IN_PAPER)


def titled(column: str, given: str | None) -> str:
    """The given title, or else that of the column."""
    return title(column) if given is None else given


def picker_title(name: str, **values: Any) -> str:
    """Label of a picker: the section's word, or else the column's title with a capital letter."""
    return optional_word(name, **values) or with_capital(say(f"words.column.{name}"))


def title_or_name(column: str) -> str:
    """Title of a column, or else its name in the frame."""
    return title(column) if is_column(column) else column


def is_column(name: str) -> bool:
    """Return True if there is a column of this name that has a title."""
    return key_of(f"column.{_bare(name)}") is not None


def value_name(column: str, value: Any) -> str:
    """Display name of a value of a column; the value itself if it has none."""
    return NAMES[column].of(value) if column in NAMES else str(value)


def option_name(column: str, picker: str, option: Any) -> str:
    """Display name of a picker's option: the section's word, or else that of a column's value."""
    word = optional_word(f"{picker}_{option}")
    if column in NAMES:
        return word or value_name(column, option)
    return word or optional_word(f"{column}_{option}") or str(option)


def with_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Add a column of display names for each column that has such names.

    Names that a page has set stay. Values of another kind under the same column name, such as
    places in a list, get no names.
    """
    named = {}
    for name in frame:
        if name in NAMES and f"{name}{NAMED}" not in frame:
            known, values = NAMES[str(name)], frame[name].dropna().unique()
            if set(values) & set(known.colours):
                named[f"{name}{NAMED}"] = frame[name].map(
                    {value: known.of(value) for value in values}
                )
                named |= names_in_paper(frame, str(name))
    return frame.assign(**named)


def names_in_paper(frame: pd.DataFrame, column: str) -> dict[str, pd.Series]:
    """Column with the papers' names of a column's values, by its own name; empty if there are
    none."""
    if column not in NAMES or (in_paper := NAMES[column].in_paper) is None:
        return {}
    return {f"{column}{IN_PAPER}": frame[column].map(in_paper, na_action="ignore")}


def shown_as(column: str, frame: pd.DataFrame) -> str:
    """Name of the column that readers see in place of this one."""
    return f"{column}{NAMED}" if f"{column}{NAMED}" in frame else column


def column_settings(frame: pd.DataFrame, columns: Mapping[str, str | None]) -> dict[str, Any]:
    """Titles and number formats of a table's columns.

    Args:
        columns: columns to show, with the number format if it is not the usual one of the column.
    """
    return {shown_as(name, frame): _setting(frame, name, form) for name, form in columns.items()}


def _setting(frame: pd.DataFrame, name: str, form: str | None) -> Any:
    label, values = title(name), frame[name]
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        return label
    usual = _COUNT if pd.api.types.is_integer_dtype(values) else _NUMBER
    return st.column_config.NumberColumn(label, format=form or _FORMATS.get(name, usual))
