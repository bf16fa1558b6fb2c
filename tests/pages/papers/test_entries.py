"""Every figure and table of the papers is listed, and its section draws it with its choices."""

import json
import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.delta_generator import DeltaGenerator

from analysis.published.numbers import EXPERIMENTS
from pages.export.item import item_of
from pages.kit.items import Control
from pages.kit.links import VIEWS
from pages.kit.run import Run, within
from pages.kit.sections import page_of, section_of
from pages.papers.cards import label_of, title_of
from pages.papers.claims import CLAIMS
from pages.papers.entries import ENTRIES, PAPERS, Entry, entries_of
from pages.papers.recorded import recorded, run_section
from pages.services.chosen import open_store
from pages.words.say import catalogue
from tests.docs.written import ROOT

OF_SIZE = {"head", "he_direction"}
"""Choices that small models have fewer of."""
OF_NOTHING: Any = SimpleNamespace(
    adds_positions=False, shows_images=False, has_offsets=False, knows_offsets=False
)
"""A file without the properties that sections ask for."""
each_entry = pytest.mark.parametrize(
    "entry", ENTRIES, ids=lambda entry: f"{entry.paper}-{entry.stem}"
)
_ROW = re.compile(r"\| (\w+) (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|")


@pytest.fixture
def on_full_store(request, monkeypatch):
    """Choose the file that has what an entry shows; nothing may be drawn."""

    def refuse(*given, **named):
        pytest.fail("something is drawn")

    def choose(entry: Entry) -> None:
        name = "images" if entry.only == "shows_images" else "treebank"
        folder = request.getfixturevalue(f"{name}_folder")
        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        monkeypatch.setattr(DeltaGenerator, "_enqueue", refuse)

    return choose


def places_of(entry: Entry) -> list[tuple[str, ...]]:
    return [(entry.page, entry.view), *([entry.printed_in] if entry.printed_in else [])]


@each_entry
def test_a_section_draws_the_figure_with_choices_that_it_has(entry, on_full_store):
    on_full_store(entry)
    with within(Run()):
        store = open_store()
        run = recorded(store, entry)
        items = [
            item
            for page, view in places_of(entry)
            for item in run_section(
                store, replace(entry, page=page), section_of(store, page, view)
            )[0]
        ]
    assert run.figure, run.reason
    item = item_of(run.figure.shown)
    assert item.chart or item.rows, "there is nothing to draw"
    data = (item.chart or {}).get("datasets", {})
    assert not re.search(r'": \["', json.dumps(data)), "is one line on a slide"
    assert bool(run.rows) == (entry.printed not in ("", "pairs"))
    controls = {item.key: item for item in items if isinstance(item, Control)}
    assert set(entry.choices) <= set(controls)
    for key in set(entry.choices) - OF_SIZE:
        options = set(map(str, controls[key].labels)) or {run.choices[key]}
        assert run.choices[key] in options & set(entry.choices[key])


@each_entry
def test_an_entry_has_its_words_its_experiment_and_its_claim(entry):
    assert label_of(entry)
    assert title_of(entry)
    assert entry.page in VIEWS
    assert entry.experiment in EXPERIMENTS
    assert not entry.claim or entry.claim in CLAIMS
    assert not entry.claim or f"papers.claims.{entry.claim}" in catalogue()
    assert not entry.only or f"papers.not_{entry.only}" in catalogue()
    parts = [part for part in page_of(entry.page).sections if part.name == entry.view]
    assert entry.only or len(parts) > 1 or parts[0].when(OF_NOTHING)


def test_every_claim_is_of_an_entry():
    assert set(CLAIMS) == {entry.claim for entry in ENTRIES} - {""}


def test_the_documentation_maps_all_of_them_in_the_same_order():
    text = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")
    mapped = text.partition("## Every figure and table")[2]
    words = catalogue()
    listed = [
        (
            *entry.paper.split("-"),
            words[f"papers.label_{entry.kind}"]["en"].format(number=entry.number).lower(),
            words[f"page.{entry.page}.title"]["en"],
            words[f"{entry.page}.view_{entry.view}"]["en"],
        )
        for entry in ENTRIES
    ]
    rows = [(name.lower(), *others) for name, *others in _ROW.findall(mapped)]
    assert rows == listed


PRINTED = {
    "kobayashi-2020": {"figure": range(1, 6), "table": range(1, 4)},
    "kobayashi-2021": {"figure": (3, 4), "table": (2, 3)},
    "kobayashi-2024": {"figure": range(1, 4), "table": range(1, 5)},
    "yamamoto-2023": {"figure": range(1, 10)},
    "clark-2019": {"figure": range(1, 7), "table": range(1, 4)},
    "sawaki-2025": {"rules": (1,), "maps": (1,)},
}
"""Numbers of figures and tables in the papers; of that of 2021, those that a section draws."""


def test_no_figure_or_table_of_the_papers_is_left_out():
    assert list(PRINTED) == list(PAPERS)
    for paper, printed in PRINTED.items():
        numbers = {kind: list(of) for kind, of in printed.items()}
        found = {
            kind: sorted(entry.number or 1 for entry in entries_of(paper) if entry.kind == kind)
            for kind in Counter(entry.kind for entry in entries_of(paper))
        }
        assert found == numbers
