"""Pages opened in a browserless session, and clicks on their figures."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.export.shown import Shown
from pages.kit.contents import PAGES

PAGES_OF_FILES = Path(__file__).parents[3] / "pages"


def open_page(
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    folder: Path,
    *,
    lang: str = "en",
    alone: bool = False,
    **address: Any,
) -> AppTest:
    """A page on the files of a folder: by itself, or from the table of contents."""
    script = f"{page}/page.py" if alone else "_main.py"
    session = AppTest.from_file(str(PAGES_OF_FILES / script), default_timeout=60)
    if not alone and page != next(iter(PAGES)):
        session._registered_pages = registered_pages()
        session.switch_page(f"{page}/page.py")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    for key, value in {"lang": lang, **address}.items():
        session.query_params[key] = value
    return session.run()


@cache
def registered_pages() -> dict[Any, Any]:
    """Pages of the contents, which a session knows only after its first run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIXSCOPE_STATISTICS", str(PAGES_OF_FILES / "no such folder"))
        main = AppTest.from_file(str(PAGES_OF_FILES / "_main.py"), default_timeout=60)
        return main.run()._registered_pages


def frame_of(exported: Mapping[str, Shown], key: str) -> Any:
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
    prefix, _, short = name.partition("_")
    of_name = re.compile(rf"-{prefix}_\w+?_{short}(_|$)")
    drawn = session.dataframe if part == "rows" else session.get("vega_lite_chart")
    ids = [element.proto.id for element in drawn if element.proto.selection_mode]
    states = session._tree.get_widget_states()
    clicked = states.widgets.add()
    (clicked.id,) = (found for found in ids if of_name.search(found))
    clicked.string_value = json.dumps({"selection": {part: [value]}}, default=int)
    session._run(states)
