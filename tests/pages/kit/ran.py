"""Sections of pages, run on a file without a page: what they show and say, with nothing drawn."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import chain
from typing import Any
from unittest.mock import patch

import pandas as pd
from streamlit.testing.v1 import AppTest

from analysis.needs import Need
from pages.charts.chart_theme import with_data
from pages.kit import grammar, recorded
from pages.kit.address import Choice
from pages.kit.items import Figure, Item, Markup, Table, Text, every_item
from pages.kit.run import Run, within
from pages.kit.section import Finding, Section
from pages.kit.sections import page_of, section_of
from pages.kit.source import Given
from pages.kit.view import View
from pages.services.chosen import open_store, speak_of_file
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store
from pages.words import say

FOR_ALL = {"sy_least": "1", "an_least": "1", "tp_min_count": "1"}
"""Small stores have little of anything, so that nothing is left out for being rare."""


def sections(page: str) -> list[Section]:
    """The sections of a page, in their order."""
    return list(import_module(f"pages.{page}.page").PAGE.sections)


def home_of(page: str, section: Section) -> str:
    """Name of a file that has everything a section can show."""
    if page == "compare":
        return "steps"
    turned = {Need.KERNELS, Need.TURNED_POSITIONS}
    if any(not turned.isdisjoint(table.needs) for table in section.needs):
        return "turned"
    of_images = any(Need.IMAGES in table.needs for table in section.needs)
    return "images" if of_images or (page, section.name) == ("relevance", "map") else "treebank"


@dataclass
class Ran:
    """Items and texts of a section for some choices.

    Attributes:
        findings: its sentences.
        evidence: rows of its findings, with how they are said.
        keys: of the words that it used.
        chosen: values of its choices by their keys in the address.
        items: all of them, in order.
    """

    findings: list[str] = field(default_factory=list)
    evidence: list[tuple[pd.DataFrame, Finding]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    chosen: dict[str, Any] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)

    @cached_property
    def shown(self) -> list[Figure | Table | Markup]:
        return [item for item in self.items if isinstance(item, Figure | Table | Markup)]

    @cached_property
    def drawn(self) -> Mapping[str, dict[str, Any]]:
        """Charts in Vega-Lite by the names of what is shown; nothing for tables and markup."""
        charts = {item.shown.name: item.shown.chart for item in self.shown}
        return {
            name: with_data(chart) if chart is not None else {} for name, chart in charts.items()
        }

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
    """Record words, choices and findings."""
    announce, catalogue, value_of = View.finding, say.catalogue(), Given.value

    class Heard(dict[str, dict[str, str]]):
        def __getitem__(self, key: str) -> dict[str, str]:
            found.keys.append(key)
            return super().__getitem__(key)

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
