"""Counterparts in the open file of every figure and table, kept until a file changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urlencode

import streamlit as st

from pages.charts.chart_theme import ground
from pages.export.item import Item, item_of
from pages.export.picture import picture
from pages.kit.contents import PAGES
from pages.kit.items import Markup
from pages.kit.links import VIEWS, address
from pages.kit.published_table import Row, apart
from pages.papers.claims import CLAIMS, Evidence
from pages.papers.entries import Entry
from pages.papers.recorded import recorded
from pages.services.folder import files
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store, Version, version_of
from pages.words.say import Language, language, say

Badge = Literal["agrees", "partly", "differs", "same", "other", "unclear", "nothing", "absent"]
_ROOM = 250, 150  # pixels of a picture
_OF_OWN: Mapping[str, Badge] = {"same": "agrees", "other": "differs", "unclear": "unclear"}


@dataclass(frozen=True)
class Outcome:
    """A figure or table of a paper on the open file.

    Attributes:
        item: the figure, as it is collected; None if the file has none.
        is_markup: whether it is markup, which is drawn on white.
        rows: printed numbers with the file's own.
        n_agree: number of printed values or pairs that the file has too.
        n_printed: number of printed values or pairs that are compared.
        evidence: of what the paper states.
        apart: difference from the paper's experiment, as of `apart`.
        choices: of the section, by key of the address.
        reason: of a missing figure, and the command that makes a file which has it.
    """

    item: Item | None
    is_markup: bool = False
    rows: tuple[Row, ...] = ()
    n_agree: int = 0
    n_printed: int = 0
    evidence: Evidence | None = None
    apart: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    command: str = ""

    @property
    def badge(self) -> Badge:
        """Agreement of the file with the paper.

        In the paper's own experiment by its printed values, or else by what it states; in another
        one only by what it states, since values of other models and texts need not agree.
        """
        if self.item is None:
            return "absent"
        if not self.apart and self.n_printed:
            every, none = self.n_agree == self.n_printed, not self.n_agree
            return "agrees" if every else "differs" if none else "partly"
        if self.evidence is None:
            return "nothing"
        return self.evidence.direction if self.apart else _OF_OWN[self.evidence.direction]


def outcome_of(store: Store, entry: Entry) -> Outcome:
    """Figure or table of a paper on the open file, with a link to its section."""
    outcome = _outcome(*_key(store, entry), store, entry)
    if outcome.item is None:
        return outcome
    named = {**address(), VIEWS[entry.page]: entry.view, **outcome.choices}
    query = urlencode({key: name for key, name in named.items() if key != "lang"})
    link = f"{PAGES[entry.page]}?{query}#{outcome.item.address}"
    return replace(outcome, item=replace(outcome.item, address=link))


def picture_of(outcome: Outcome) -> bytes:
    """Small PNG of a figure in the reader's theme; empty if there is nothing to draw."""
    chart = outcome.item and outcome.item.chart
    return picture(chart, "print" if outcome.is_markup else ground(), *_ROOM) if chart else b""


def _key(store: Store, entry: Entry) -> tuple[tuple[Version, ...], Language, str]:
    """Versions of the open file and of all others, language, and what is asked of the file.

    Some figures compare several files; some tables of a paper ask the same.
    """
    versions = (store.version, *(version_of(path) for path in files()))
    return versions, language(), repr(replace(entry, paper="", number=0))


@st.cache_data(max_entries=256, max_size="128MB", show_spinner=False)
def _outcome(
    versions: tuple[Version, ...], language: Language, asked: str, _store: Store, _entry: Entry
) -> Outcome:
    """Run the section of an entry, and test what the paper states of it."""
    run = recorded(_store, _entry)
    difference = apart(_store, _entry.experiment)
    if run.figure is None:
        reason = run.reason or say("papers.not_shown")
        return Outcome(None, choices=run.choices, reason=reason, command=run.command)
    known = [row for row in run.rows if row.difference is not None]
    agree = [row.is_consistent for row in known]
    if _entry.printed == "pairs" and (both := f"published_{_entry.figure}") in run.frames:
        agree = run.frames[both]["in_both"].tolist()
    return Outcome(
        item_of(run.figure.shown, run.figure.shown.name),
        is_markup=isinstance(run.figure, Markup),
        rows=run.rows,
        n_agree=sum(agree),
        n_printed=len(agree),
        evidence=CLAIMS[_entry.claim](Inquiry(_store), run.frames) if _entry.claim else None,
        apart=difference,
        choices=run.choices,
    )
