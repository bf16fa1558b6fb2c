"""Exports of a page by the beginning of their keys, and clicks on its figures."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.pages.kit.openings import Offered


def figure_of(exported: Offered, key: str) -> tuple[Any, Any]:
    """Frame and chart of the only figure or table whose key has this beginning."""
    (match,) = (figure for name, figure in exported.items() if name.startswith(key))
    return match


def frame_of(exported: Offered, key: str) -> Any:
    return figure_of(exported, key)[0]


def chart_of(exported: Offered, key: str) -> Any:
    return figure_of(exported, key)[1]


def click(session: AppTest, name: str, part: str, value: Any) -> None:
    """Select something in a chart or table as last drawn."""
    key = session.session_state[f"{name} drawn"].key
    session.session_state[key] = {"selection": {part: [value]}}
    session.run()
