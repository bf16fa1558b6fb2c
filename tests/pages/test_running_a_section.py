"""A section runs without a page: it draws nothing, and other choices give other frames."""

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

import pytest
from streamlit.delta_generator import DeltaGenerator

from pages.charts.headline import sentences, unmarked
from pages.export.item import item_of
from pages.kit.items import Figure, Item, Markup, Table, every_item
from pages.kit.links import VIEWS
from pages.kit.recorded import fill
from pages.kit.run import Run, within
from pages.kit.section import Section
from pages.kit.source import Given, SectionEnds
from pages.kit.view import View
from pages.services.chosen import open_store
from pages.services.open_file import Store, looked_at
from tests.pages.kit.drawn import FOR_ALL
from tests.pages.kit.section_checks import home_of, sections

LEFT_OUT = ("compare", "query", "sequences")
"""Of several files, and with notices to wait while a model or another process runs."""
SECTIONS = [
    pytest.param(page, section, id=f"{page}-{section.name}-{place}")
    for page in VIEWS
    for place, section in enumerate(sections(page))
    if page not in LEFT_OUT
]


@pytest.fixture
def run(request, monkeypatch) -> Callable[..., list[Item]]:
    """Run a section on its home file by the names of some choices; return all its items."""

    def refuse(*given, **named):
        pytest.fail("something is drawn")

    def ran(page: str, section: Section, store: Store | None = None, **names: str) -> list[Item]:
        folder = request.getfixturevalue(f"{home_of(page, section)}_folder")
        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        monkeypatch.setattr(DeltaGenerator, "_enqueue", refuse)
        choices = Given({key: [name] for key, name in {**FOR_ALL, **names}.items()})
        prefix = import_module(f"pages.{page}.page").PAGE.prefix
        given = {"choices": choices, "needs": section.needs}
        view = View(prefix, section.name, store or open_store(), **given)
        with within(Run(words=(page, section.name))), suppress(SectionEnds):
            fill(section, view)
        return list(every_item(view.items))

    return ran


def shown_in(items: list[Item]) -> list[Figure | Table | Markup]:
    return [item for item in items if isinstance(item, Figure | Table | Markup)]


def test_charts_beside_each_other_have_their_own_headlines_and_the_finding_above_them(run):
    [map_of_heads] = [part for part in sections("head_map") if part.name == "map"]
    pair = [item.shown for item in shown_in(run("head_map", map_of_heads))]
    assert len(pair) == 2
    assert len({shown.above for shown in pair}) == 1
    assert pair[0].above
    assert not pair[0].finding
    first, *others = item_of(pair[1]).said
    assert (first, others) == (pair[1].question, sentences(unmarked(pair[0].above)))


@pytest.mark.parametrize(("page", "section"), SECTIONS)
def test_what_a_section_shows_is_found_again_by_its_name(run, page, section):
    shown = [item.shown for item in shown_in(run(page, section))]
    assert len({of.name for of in shown}) == len(shown)


@pytest.mark.parametrize(("page", "section"), SECTIONS)
def test_a_section_records_what_it_shows_and_draws_nothing(run, page, section):
    shown = shown_in(run(page, section))
    assert shown
    for item in shown:
        assert item.shown.question
        assert item.shown.source
        assert item.shown.asked.queries


CHARTS_FIRST = (
    ("norms", "transformation"),
    ("token_pairs", "tables"),
    ("relevance", "methods"),
)


@pytest.mark.parametrize(("page", "stem"), CHARTS_FIRST)
def test_a_chart_comes_before_its_tables(run, page, stem):
    [section] = (part for part in sections(page) if part.name == stem)
    assert isinstance(shown_in(run(page, section))[0], Figure)


def test_a_section_asks_the_file_that_it_is_handed_and_no_other(run, gpt2_folder):
    (section,) = (part for part in sections("layer_mixing") if part.name == "similarity")
    other = looked_at(next(gpt2_folder.glob("*.duckdb")))
    shown = shown_in(run("layer_mixing", section, other))
    assert shown
    for item in shown:
        assert [store.version for store in item.shown.asked.stores] == [other.version]
