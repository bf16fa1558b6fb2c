"""Pickers whose value is part of the address; keys start with the prefix of their page."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Literal, TypeVar

import streamlit as st

from pages.ui.choices.address import Choice
from pages.ui.choices.address import draw as draw_here
from pages.ui.stage import stage
from pages.ui.words.lines import width_of
from pages.ui.words.say import say

Option = TypeVar("Option")
_SHORT, _EDGE = 30, 4  # letters of all options of a segmented picker; letters' width of an edge
Kind = Literal["segmented", "pills", "select", "slider"]


def draw(choice: Choice, widget: Callable[[], Any], *, in_bar: bool = False) -> Any:
    """Draw a picker in the current row of its section, or in the bar of the page."""
    with nullcontext() if in_bar else stage().place():
        return draw_here(choice, widget)


def pick(
    key: str,
    label: str,
    options: Sequence[Option],
    *,
    default: Option,
    format: Callable[[Any], str] | None = None,
    kind: Kind = "segmented",
    help: str | None = None,
    bare: bool = False,
    in_bar: bool = False,
    moved: Mapping[str, str] | None = None,
) -> Option:
    """Let the reader pick an option; the address holds `str(option)`, whatever its label.

    Args:
        kind: a slider takes one click however many options there are.
        bare: whether the label is hidden, except from screen readers.
        in_bar: likewise, and in the bar of the page.
        moved: present options by their names in older addresses.
    """
    settings: dict[str, Any] = {"key": key, "help": help, "format_func": format or str}
    settings["label_visibility"] = "collapsed" if bare or in_bar else "visible"

    letters = sum(width_of(str(settings["format_func"](option))) + _EDGE for option in options)
    is_slider = kind == "slider" and len(options) > 1
    if stage().shares_rows and letters > _SHORT:
        kind = "select"

    def widget() -> Any:
        if is_slider:
            return st.select_slider(label, options, **settings)
        if kind == "select":
            return st.selectbox(label, options, **settings)
        drawn = st.pills if kind == "pills" else st.segmented_control
        return drawn(label, options, required=True, **settings)

    choice = Choice(key, options, default, named=bare, moved=moved or {})
    return draw(choice, widget, in_bar=in_bar)


def pick_many(
    key: str,
    label: str,
    options: Sequence[Option],
    *,
    default: Sequence[Option],
    format: Callable[[Any], str] | None = None,
    help: str | None = None,
    limit: int | None = None,
    named: bool = False,
    moved: Mapping[str, str] | None = None,
) -> list[Option]:
    """Let the reader pick options; returns them in the order of choice, at most `limit`.

    Args:
        named: whether every address with a choice names them, the default as well.
        moved: present options by their names in older addresses.
    """
    choice = Choice(key, options, list(default), many=True, named=named, moved=moved or {})
    return draw(
        choice,
        lambda: st.multiselect(
            label,
            options,
            key=key,
            format_func=format or str,
            help=help,
            max_selections=limit,
            placeholder=say("page.choose"),
        ),
    )


def choose(key: str, value: object) -> None:
    """Set a choice from a callback, before its picker is drawn."""
    st.session_state[key] = value
