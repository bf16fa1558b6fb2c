"""What a reader clicked in a chart or a table, seen before anything is drawn.

A click moves pickers that stand above the chart, so it is read at the start of the next run. It is
told from what was selected when the chart was drawn: an old click must not undo a newer choice.
"""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.ui.choices.otherwise import otherwise


@dataclass(frozen=True)
class _Drawn:
    """The key a chart was drawn under, and what was selected in it then."""

    key: str
    selection: dict[str, list[Any]]
    rows: list[dict[Any, Any]] | None = None


def remember(name: str, key: str, event: Any, rows: list[dict[Any, Any]] | None = None) -> None:
    """Note under which key a chart or table was drawn, and what it gave back.

    Args:
        rows: of a table, what a click on each is to give back in place of its number.
    """
    st.session_state[_place(name)] = _Drawn(key, dict(event["selection"]), rows)


def fresh_click(name: str) -> list[Any]:
    """What has been selected since the chart or table was drawn last; mostly nothing.

    Returns:
        The marks that were selected in a chart; rows of a table, by their numbers unless others
        were noted.
    """
    drawn = st.session_state.get(_place(name))
    event = st.session_state.get(drawn.key) if drawn else None
    if drawn is None or event is None or otherwise() is not None:
        return []
    now = dict(event["selection"])
    fresh = {part: list(marks) for part, marks in now.items() if marks != drawn.selection.get(part)}
    if drawn.rows is not None and "rows" in fresh:
        fresh["rows"] = [drawn.rows[row] for row in fresh["rows"] if row < len(drawn.rows)]
    return [mark for part in fresh.values() for mark in part]


def forget(name: str) -> None:
    """A click that led to where its chart or table is not drawn: it is not to be followed again."""
    st.session_state.pop(_place(name), None)


def _place(name: str) -> str:
    return f"{name} drawn"
