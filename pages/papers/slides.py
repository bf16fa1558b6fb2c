"""All figures of a paper as slides, and as a report in LaTeX and as a web page."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import streamlit as st

from pages.export.collection import Collection, collected, keep
from pages.export.downloads import downloads
from pages.export.item import Item
from pages.kit.links import address
from pages.kit.presentation import PRESENT
from pages.papers.cards import badge_of, label_of, title_of
from pages.papers.entries import Entry, entries_of, word_of
from pages.papers.outcomes import Outcome, outcome_of
from pages.services.open_file import Store
from pages.words.say import say


def present(store: Store, paper: str) -> None:
    """Collect every figure of a paper behind what is there, and show the first one as a slide."""
    outcomes = {entry: outcome_of(store, entry) for entry in entries_of(paper)}
    collection, items = collected(), list(items_of(outcomes))
    if not collection.items:
        collection = collection.titled(_title(store, paper))
    for item in items:
        collection = collection.with_item(item)
    keep(collection)
    keys = {item.key for item in items}
    places = [n for n, item in enumerate(collection.items, start=1) if item.key in keys]
    if len(places) < len(keys):
        st.toast(say("papers.full", n=len(keys) - len(places)), duration="long")
    asked = {"rp_view": "slides", "rp_slide": str(places[0] if places else 1), PRESENT: "True"}
    st.switch_page("report/page.py", query_params=address() | asked)


def report_of(store: Store, paper: str, outcomes: Mapping[Entry, Outcome]) -> None:
    """Draw downloads of a paper's figures as a web page and in LaTeX; what is collected stays."""
    st.caption(say("papers.report"), width="content")
    downloads(Collection(_title(store, paper), tuple(items_of(outcomes))), "web", "paper")


def items_of(outcomes: Mapping[Entry, Outcome]) -> Iterable[Item]:
    """Figures in the order of the paper, each once, with what is printed in their notes."""
    seen = set()
    for entry, outcome in outcomes.items():
        if outcome.item and outcome.item.key not in seen:
            seen.add(outcome.item.key)
            yield replace(outcome.item, note=_note(entry, outcome))


def _title(store: Store, paper: str) -> str:
    return say(
        "papers.report_title",
        paper=say(f"papers.name.{word_of(paper)}"),
        model=store.model_name,
    )


def _note(entry: Entry, outcome: Outcome) -> str:
    """Place in the paper, what it states, and what the file has of it."""
    label = say(
        "papers.label", paper=say(f"papers.cited.{word_of(entry.paper)}"), label=label_of(entry)
    )
    if not (entry.claim and outcome.evidence):
        return say("papers.note_alone", label=label, title=title_of(entry))
    claim = say(f"papers.claims.{entry.claim}")
    badge = badge_of(outcome)
    return say("papers.note", label=label, claim=claim, text=outcome.evidence.text, badge=badge)
