"""Exports of a page by the beginning of their keys, and clicks on its figures."""

import json
import re
from collections.abc import Iterable
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.pages.kit.openings import Offered


def frame_of(exported: Offered, key: str) -> Any:
    """Frame of the figure or table with this key, or of the only one whose key begins so."""
    if key in exported:
        return exported[key].frame
    (match,) = (shown for name, shown in exported.items() if name.startswith(key))
    return match.frame


def click(session: AppTest, name: str, part: str, value: Any) -> None:
    """Select something in a chart or table, as a browser does, and run the page.

    Args:
        name: of the figure, with the prefix of its page.
        part: the name of the selection.
    """
    states = session._tree.get_widget_states()
    clicked = states.widgets.add()
    drawn = session.dataframe if part == "rows" else session.get("vega_lite_chart")
    clicked.id = _selectable(drawn, name)
    clicked.string_value = json.dumps({"selection": {part: [value]}}, default=int)
    session._run(states)


def _selectable(drawn: Iterable[Any], name: str) -> str:
    """Id of the only element of this name that can be clicked."""
    prefix, _, short = name.partition("_")
    ids = [element.proto.id for element in drawn if element.proto.selection_mode]
    of_name = re.compile(rf"-{prefix}_\w+?_{short}(_|$)")
    (match,) = (found for found in ids if of_name.search(found))
    return match
