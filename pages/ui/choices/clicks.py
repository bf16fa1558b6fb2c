"""Clicks in charts and tables, read before anything is drawn.

A click moves pickers that stand above the chart, so it is read at the start of the next run. It is
compared with the selection at the time of drawing: an old click must not undo a newer choice.
"""

from dataclasses import dataclass
from typing import Any

import streamlit as st


@dataclass(frozen=True)
class _Drawn:
    """Key under which a chart was drawn, and its selection at that time."""

    key: str
    selection: dict[str, list[Any]]
    rows: list[dict[Any, Any]] | None = None


def remember(name: str, key: str, event: Any, rows: list[dict[Any, Any]] | None = None) -> None:
    """Record the key and the selection of a chart or table that was drawn.

    Args:
        rows: of a table, values that a click on each row returns in place of its number.
    """
    st.session_state[_place(name)] = _Drawn(key, dict(event["selection"]), rows)


def fresh_click(name: str) -> list[Any]:
    """Return the selection made since the last drawing of a chart or table; usually none.

    Returns:
        The marks that were selected in a chart; rows of a table, by their numbers unless `remember`
        recorded others.
    """
    drawn = st.session_state.get(_place(name))
    event = st.session_state.get(drawn.key) if drawn else None
    if drawn is None or event is None:
        return []
    now = dict(event["selection"])
    fresh = {part: list(marks) for part, marks in now.items() if marks != drawn.selection.get(part)}
    if drawn.rows is not None and "rows" in fresh:
        fresh["rows"] = [drawn.rows[row] for row in fresh["rows"] if row < len(drawn.rows)]
    return [mark for part in fresh.values() for mark in part]


def forget(name: str) -> None:
    """Forget a click that led away from its chart or table, so that it is followed once."""
    st.session_state.pop(_place(name), None)


def _place(name: str) -> str:
    return f"{name} drawn"
