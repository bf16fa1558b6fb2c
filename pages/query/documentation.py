"""The public views of the open file, beside the question that is put to them."""

import re

import streamlit as st

from analysis.contracts import every_table
from analysis.tables.table import View as PublicView
from pages.ui.about import translation, view_columns
from pages.ui.choices.pick import choose
from pages.ui.store.chosen import open_store
from pages.ui.view import View

_FEW = 100  # rows


def documentation(view: View, sql: str) -> None:
    """One view of those that have rows: what a row is, and what each column means."""
    views = held_views()
    with st.expander(view.say("views"), expanded=True):
        name = view.pick(
            "of", {key: key for key in views}, default=named(sql, views), kind="select"
        )
        st.markdown(f"**`{name}`** — {translation(views[name].grain)}")
        st.button(
            view.say("see_rows"),
            on_click=choose,
            args=(view.key("sql"), f"from {name}\nlimit {_FEW}"),
        )
        view_columns(views[name])


def held_views() -> dict[str, PublicView]:
    """The public views of what the open file holds, by name."""
    held = [table for table in every_table() if open_store().holds(table)]
    views = {view.name: view for table in held for view in table.all_views}
    return dict(sorted(views.items()))


def named(sql: str, views: dict[str, PublicView]) -> str:
    """The first view that a question names; the first of all if it names none."""
    words = re.findall(r"\b(?:from|join)\s+(\w+)", sql.lower())
    return next((word for word in words if word in views), next(iter(views)))
