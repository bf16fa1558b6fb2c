"""Widgets of choices, and pickers of a page outside of its sections."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from pages.kit.address import Choice, draw
from pages.kit.items import Control, Kind
from pages.words.say import say

Option = TypeVar("Option")


def pick(
    key: str,
    label: str,
    options: Sequence[Option],
    *,
    default: Option,
    format: Callable[[Any], str],
    kind: Kind = "segmented",
    named: bool = True,
    moved: Mapping[str, str] | None = None,
) -> Option:
    """Let the reader pick an option; the address names `str(option)`, whatever its label.

    The label is hidden, except from screen readers.

    Args:
        named: whether every address with a choice names it, the default as well.
        moved: present options by their names in older addresses.
    """
    labels = {option: format(option) for option in options}
    control = Control(key, label, kind, labels, settings={"label_visibility": "collapsed"})
    choice = Choice(key, options, default, named=named, moved=moved or {})
    return draw(choice, lambda: widget(control))


def widget(control: Control) -> None:
    """Draw the widget of a control, which shows the value that its choice has."""
    given: dict[str, Any] = {"key": control.key, "help": control.help, **control.settings}
    options = list(control.labels)
    if control.kind == "number":
        st.number_input(control.label, **given)
    elif control.kind == "text":
        st.text_input(control.label, **given)
    elif control.kind == "sql":
        st.text_area(control.label, **given)
    elif control.kind == "many":
        limit, labels = given.pop("limit", None), control.labels
        st.multiselect(
            control.label,
            options,
            format_func=labels.__getitem__,
            max_selections=limit,
            placeholder=say("page.choose"),
            **given,
        )
    else:
        given["format_func"] = control.labels.__getitem__
        if control.kind == "slider" and len(options) > 1:
            st.select_slider(control.label, options, **given)
        elif control.kind == "select":
            st.selectbox(control.label, options, **given)
        else:
            drawn = st.pills if control.kind == "pills" else st.segmented_control
            drawn(control.label, options, required=True, **given)
