"""Widgets of recorded controls; each shows the value that its choice has."""

from typing import Any

import streamlit as st

from pages.kit.items import Control
from pages.words.say import say


def widget(control: Control) -> None:
    """Draw the widget of a control."""
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
