"""Pages opened in a browserless session."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.export.shown import Shown
from pages.kit import frame
from pages.kit.contents import PAGES

ROOT = Path(__file__).parents[3]
PATIENCE = 60  # seconds


Offered = dict[str, Shown]
"""Exports that a page offers, by the key of the figure."""


@dataclass(frozen=True)
class Opener:
    """Opens pages in a browserless session."""

    monkeypatch: pytest.MonkeyPatch

    def __call__(
        self, page: str, folder: Path, *, lang: str = "en", alone: bool = False, **address: Any
    ) -> AppTest:
        """A page on the files of a folder: by itself, or from the table of contents."""
        script = f"{page}/page.py" if alone else "_main.py"
        session = AppTest.from_file(str(ROOT / "pages" / script), default_timeout=PATIENCE)
        if not alone and page != next(iter(PAGES)):
            session._registered_pages = registered_pages()
            session.switch_page(f"{page}/page.py")
        self.monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        for key, value in {"lang": lang, **address}.items():
            session.query_params[key] = value
        return session.run()


@cache
def registered_pages() -> dict[Any, Any]:
    """Pages of the contents, which a session knows only after its first run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIXSCOPE_STATISTICS", str(ROOT / "no such folder"))
        main = AppTest.from_file(str(ROOT / "pages" / "_main.py"), default_timeout=PATIENCE)
        return main.run()._registered_pages


@contextmanager
def noting() -> Iterator[Offered]:
    """Record the exports that an opened page offers."""
    figures: Offered = {}
    offer = frame.export_buttons

    def note(shown: Shown) -> None:
        figures[shown.key] = shown
        offer(shown)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "export_buttons", note)
        yield figures
