"""What a page offers for export, found by the beginning of its key; and clicks on what it drew."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.pages.kit.openings import Offered


def figure_of(exported: Offered, key: str) -> tuple[Any, Any]:
    """The frame and the chart of the one figure or table whose key begins so."""
    (match,) = (figure for name, figure in exported.items() if name.startswith(key))
    return match


def frame_of(exported: Offered, key: str) -> Any:
    return figure_of(exported, key)[0]


def chart_of(exported: Offered, key: str) -> Any:
    return figure_of(exported, key)[1]


def click(session: AppTest, name: str, part: str, value: Any) -> None:
    """Select something in a chart or table as it was drawn last."""
    key = session.session_state[f"{name} drawn"].key
    session.session_state[key] = {"selection": {part: [value]}}
    session.run()
