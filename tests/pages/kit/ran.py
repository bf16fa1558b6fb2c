"""A section run on a file without a page: what it shows and says, with nothing drawn."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from unittest.mock import patch

import pandas as pd
from streamlit.testing.v1 import AppTest

from pages.kit import grammar, recorded
from pages.kit.address import Choice
from pages.kit.items import Figure, Item, Markup, Table, Text, every_item
from pages.kit.run import Run, within
from pages.kit.section import Finding
from pages.kit.sections import page_of, section_of
from pages.kit.source import Given
from pages.kit.view import View
from pages.services.chosen import open_store, speak_of_file
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store
from pages.words import say
from tests.pages.kit.promises import Pictured

FOR_ALL = {"sy_least": "1", "an_least": "1", "tp_min_count": "1"}
"""Small stores have little of anything, so that nothing is left out for being rare."""


@dataclass
class Ran:
    """Items and texts of a section for some choices.

    Attributes:
        findings: its sentences.
        evidence: rows of its findings, with how they are said.
        keys: of the words that it used.
        values: those that its words took.
        chosen: values of its choices by their keys in the address.
        items: all of them, in order.
    """

    findings: list[str] = field(default_factory=list)
    evidence: list[tuple[pd.DataFrame, Finding]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    chosen: dict[str, Any] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)

    @property
    def shown(self) -> list[Figure | Table | Markup]:
        return [item for item in self.items if isinstance(item, Figure | Table | Markup)]

    @property
    def pictures(self) -> list[Pictured]:
        """Figures, tables and markup with their texts, as a reader sees them."""
        return [_pictured(item) for item in self.shown]

    def texts(self, kind: str) -> list[str]:
        """Texts of a kind, such as `info`."""
        return [one.body for one in self.items if isinstance(one, Text) and one.kind == kind]

    @property
    def said(self) -> str:
        """All texts: findings, questions, captions, notes and what stands between."""
        shown = ((of.shown.question, of.shown.caption, *of.notes) for of in self.shown)
        texts = (item.body for item in self.items if isinstance(item, Text))
        return "\n".join([*self.findings, *chain.from_iterable(shown), *texts])

    def one(self, name: str) -> Any:
        """The only item with this name."""
        [item] = [item for item in self.shown if item.shown.name == name]
        return item

    def keyed(self, start: str) -> pd.DataFrame:
        """Rows of what has this key, or of the only one whose key begins so."""
        frames = {item.shown.key: item.shown.frame for item in self.shown}
        if start in frames:
            return frames[start]
        [frame] = [frame for key, frame in frames.items() if key.startswith(start)]
        return frame

    def table(self, column: str) -> pd.DataFrame:
        """Rows of the only table with this column, with columns that are not shown."""
        tables = [item.full for item in self.shown if isinstance(item, Table)]
        [table] = [table for table in tables if column in table]
        return table


def _pictured(item: Figure | Table | Markup) -> Pictured:
    shown = item.shown
    texts = (shown.question, shown.caption, *item.notes)
    if isinstance(item, Figure):
        clicked = item.follow is not None
        return Pictured(shown.key, texts, shown.chart, shown.frame, is_clickable=clicked)
    if isinstance(item, Table):
        columns = tuple(map(str, shown.frame))
        return Pictured(shown.key, texts, None, item.full, columns=columns)
    body = item.body if isinstance(item.body, str) else item.body()
    return Pictured(shown.key, texts, None, shown.frame, body)


def ran(page: str, stem: str, store: Store | None = None, /, **choices: Any) -> Ran:
    """Run a section on a file, by default the first of the folder.

    Args:
        choices: names of options by their keys in the address.
    """
    store, found = store or open_store(), Ran()
    speak_of_file(store)
    given = Given({key: [str(value)] for key, value in choices.items()})
    with _recorded(found), within(Run()):
        view = page_of(page).run(section_of(store, page, stem), store, given)
    found.items.extend(every_item(view.items))
    return found


def inquiry() -> Inquiry:
    """Inquiry into the first file of the folder."""
    return Inquiry(open_store())


@contextmanager
def _recorded(found: Ran) -> Iterator[None]:
    """Record words, their values and findings."""
    announce, filled, catalogue = View.finding, say._filled, say.catalogue()
    value_of = Given.value

    class Heard(dict[str, dict[str, str]]):
        def __getitem__(self, key: str) -> dict[str, str]:
            found.keys.append(key)
            return super().__getitem__(key)

    def note_values(text: str, given: Any) -> str:
        found.values.extend(given.values())
        return filled(text, given)

    def note_finding(view: View, text: str) -> None:
        found.findings.append(text)
        announce(view, text)

    def note_choice(given: Given, choice: Choice) -> Any:
        found.chosen[choice.key] = value_of(given, choice)
        return found.chosen[choice.key]

    def note_evidence(rows: pd.DataFrame, finding: Finding) -> Iterator[str]:
        found.evidence.append((rows, finding))
        return grammar.sentences(rows, finding)

    heard = Heard(catalogue)
    with ExitStack() as patches:
        patches.enter_context(patch.object(say, "catalogue", lambda: heard))
        patches.enter_context(patch.object(say, "_filled", note_values))
        patches.enter_context(patch.object(View, "finding", note_finding))
        patches.enter_context(patch.object(recorded, "sentences", note_evidence))
        patches.enter_context(patch.object(Given, "value", note_choice))
        yield


@contextmanager
def spoken(lang: str) -> Iterator[None]:
    """Speak a language."""
    with patch.object(say, "_browser_language", return_value=lang):
        yield


SESSION = """
import streamlit as st
from tests.pages.kit.ran import FOR_ALL, ran

st.session_state["ran"] = ran("{page}", "{stem}", **FOR_ALL)
"""


def ran_in_session(page: str, stem: str, lang: str) -> Ran:
    """Run a section in a session, which those need that run the model."""
    session = AppTest.from_string(SESSION.format(page=page, stem=stem), default_timeout=60)
    session.query_params["lang"] = lang
    session.run()
    assert not session.exception, [error.value for error in session.exception]
    return session.session_state["ran"]
