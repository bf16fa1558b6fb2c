"""Pages opened in a browserless session, with a cache of sessions opened the same way."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.export.shown import Shown
from pages.kit import frame
from pages.kit.contents import PAGES

ROOT = Path(__file__).parents[3]
MOST = 40
"""So many openings are kept."""


class Offer(tuple[Any, Any]):
    """Frame and chart of exported content, with everything that accompanies them."""

    shown: Shown
    printed: pd.DataFrame

    def __new__(cls, shown: Shown) -> "Offer":
        offer = super().__new__(cls, (shown.frame, shown.chart))
        offer.shown, offer.printed = shown, shown.printed
        return offer


Offered = dict[str, Offer]
"""Exports that a page offers, by the key of the figure."""


@dataclass(frozen=True)
class Opener:
    """Opens pages in a browserless session."""

    monkeypatch: pytest.MonkeyPatch
    offered: Offered
    kept: dict[Any, tuple[AppTest, Offered]]
    patience: float = 60  # seconds

    def __call__(
        self, page: str, folder: Path, *, lang: str = "en", alone: bool = False, **address: Any
    ) -> AppTest:
        """A page on the files of a folder: by itself, or from the table of contents."""
        files = sorted((path.name, path.stat().st_mtime_ns) for path in folder.glob("*"))
        key = repr((page, folder, files, lang, alone, sorted(address.items())))
        if key not in self.kept:
            before = self.offered.copy()
            self.offered.clear()
            session = self._opened(page, folder, alone=alone, lang=lang, **address)
            self.kept[key] = session, self.offered.copy()
            for old in list(self.kept)[:-MOST]:
                del self.kept[old]
            self.offered.update(before)
        session, offered = self.kept[key]
        self.offered.update(offered)
        self.monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        return session

    def _opened(self, page: str, folder: Path, *, alone: bool, **address: Any) -> AppTest:
        script = f"{page}/page.py" if alone else "_main.py"
        session = AppTest.from_file(str(ROOT / "pages" / script), default_timeout=self.patience)
        if not alone and page != next(iter(PAGES)):
            session._registered_pages = registered_pages()
            session.switch_page(f"{page}/page.py")
        self.monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        for key, value in address.items():
            session.query_params[key] = value
        return session.run()


@cache
def registered_pages() -> dict[Any, Any]:
    """Pages of the contents, which a session knows only after its first run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIXSCOPE_STATISTICS", str(ROOT / "no such folder"))
        main = AppTest.from_file(str(ROOT / "pages" / "_main.py"), default_timeout=60)
        return main.run()._registered_pages


@contextmanager
def keeping() -> Iterator[dict[Any, tuple[AppTest, Offered]]]:
    """Cache sessions as they were opened; drop those that run again."""
    sessions: dict[Any, tuple[AppTest, Offered]] = {}
    run = AppTest._run

    def goes_on(session: AppTest, *given: Any, **named: Any) -> AppTest:
        for key in [key for key, (kept, _) in sessions.items() if kept is session]:
            del sessions[key]
        return run(session, *given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AppTest, "_run", goes_on)
        yield sessions


@contextmanager
def noting() -> Iterator[Offered]:
    """Record the exports that an opened page offers."""
    figures: Offered = {}
    offer = frame.export_buttons

    def note(shown: Shown) -> None:
        figures[shown.key] = Offer(shown)
        offer(shown)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "export_buttons", note)
        yield figures
