"""A section drawn once, with all that was shown, said and asked meanwhile, for several checks."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.export.shown import Shown
from pages.kit import frame
from pages.kit.links import VIEWS
from pages.kit.view import View
from pages.services.inquiry import Asked
from pages.words import say as words
from tests.pages.kit.openings import Offered, Opener
from tests.pages.kit.promises import Pictured

FOR_ALL = {"sy_least": "1", "an_least": "1", "tp_min_count": "1"}
"""Small stores have little of anything, so that nothing is left out for being rare."""


@dataclass
class Drawn:
    """A drawing of a section.

    Attributes:
        session: after the drawing.
        offers: its exports.
        pictures: its figures and tables with their texts.
        headlines: of its figures.
        keys: of the words that it used.
        values: those that its words took.
        answers: of the file to its questions.
    """

    session: AppTest = field(init=False)
    offers: Offered = field(init=False)
    pictures: list[Pictured] = field(default_factory=list)
    headlines: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    answers: list[pd.DataFrame] = field(default_factory=list)


def draw(page: str, stem: str, folder: Path, lang: str, offered: Offered) -> Drawn:
    """Draw a section anew, and check that no exception ended it."""
    drawn = Drawn()
    offered.clear()
    with pytest.MonkeyPatch.context() as patch, _recorded(drawn):
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        place: dict[str, Any] = {VIEWS[page]: stem, **FOR_ALL}
        drawn.session = Opener(patch, offered, {})(page, folder, lang=lang, **place)
    assert not drawn.session.exception, [error.value for error in drawn.session.exception]
    drawn.offers = offered.copy()
    charts = [chart.proto for chart in drawn.session.get("vega_lite_chart")]
    clicked = tuple(chart.id for chart in charts if chart.selection_mode)
    drawn.pictures = [
        replace(seen, is_clickable=any(id.endswith(seen.where) for id in clicked))
        for seen in drawn.pictures
    ]
    return drawn


@contextmanager
def _recorded(drawn: Drawn) -> Iterator[None]:
    """Record what is drawn."""
    ask, foot = Asked.ask, frame._foot
    announce, filled, catalogue = View.finding, words._filled, words.catalogue

    class Heard(dict):
        def __getitem__(self, key: str) -> Any:
            drawn.keys.append(key)
            return super().__getitem__(key)

    def note_values(text: str, given: Any) -> str:
        drawn.values.extend(given.values())
        return filled(text, given)

    def note_headline(self: Any, finding: str) -> None:
        drawn.headlines.append(finding)
        announce(self, finding)

    def note_answer(*given: Any, **named: Any) -> Any:
        answer = ask(*given, **named)
        if isinstance(answer, pd.DataFrame):
            drawn.answers.append(answer)
        return answer

    def note_picture(shown: Shown, notes: Sequence[str], *, full: Any = None, **more: Any) -> None:
        texts = (shown.question, shown.caption, *notes)
        columns = () if full is None else tuple(map(str, shown.frame))
        data = shown.frame if full is None else full
        drawn.pictures.append(Pictured(shown.key, texts, shown.chart, data, shown.body, columns))
        foot(shown, notes, full=full, **more)

    with pytest.MonkeyPatch.context() as patched:
        heard = Heard(catalogue())
        patched.setattr(words, "catalogue", lambda: heard)
        patched.setattr(words, "_filled", note_values)
        patched.setattr(Asked, "ask", note_answer)
        patched.setattr(View, "finding", note_headline)
        patched.setattr(frame, "_foot", note_picture)
        yield
