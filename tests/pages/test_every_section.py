"""Checks that every section of every page has to pass, on files of all kinds.

The files are an encoder's, with intervals; a decoder's with rotary positions; a Vision
Transformer's; two steps of a training; others with too few texts; and strange ones. Sections run
without a page, in both languages on a file that has all they can show, in one of them on others.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, cycle
from pathlib import Path
from shutil import copyfile
from typing import Any, get_args
from unittest.mock import patch

import duckdb
import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.statistics import corpus
from pages.charts.chart_theme import with_data
from pages.charts.headline import sentences, unmarked
from pages.export.files import svg
from pages.export.item import item_of
from pages.kit import grammar
from pages.kit.items import Control, Figure, Markup, Table, Text
from pages.kit.links import VIEWS
from pages.kit.section import Section
from pages.services.open_file import Store, described, looked_at, version_of
from pages.words import say as words
from pages.words.scope import words_of
from tests.pages.conftest import assert_sound, charts
from tests.pages.kit.exports import assert_exported_as_shown
from tests.pages.kit.numbers import numbers
from tests.pages.kit.promises import broken
from tests.pages.kit.ran import FOR_ALL, Ran, ran, ran_in_session, spoken
from tests.pages.kit.section_checks import home_of, sections
from tests.pages.kit.stores import rows_of

BOTH = ("en", "ja")
OF_TREES = ("syntax", "coreference")
OF_SEVERAL = {("compare", stem) for stem in ("heads", "pairs")}
OF_IMAGES = {("relevance", "map")}
NOT_OFFERED = {
    "turned": OF_SEVERAL | OF_IMAGES | {("positions", "waves")},
    "images": OF_SEVERAL | {("relevance", "text"), ("positions", "content"), ("head", "words")},
    "steps": set(),
}
OF_OTHERS = OF_SEVERAL | OF_IMAGES
NEVER_OF_IMAGES = {
    *{("norms", "frequency"), ("layer_mixing", "frequency"), ("layer_mixing", "modules")},
    *{("token_pairs", stem) for stem in ("workbench", "tables", "pmi")},
    ("sequences", "pairs"),
}
"""Sections on words, which are offered and say why images have nothing to show there."""
SECTIONS = [(page, section) for page in VIEWS for section in sections(page)]
IDS = [f"{page}-{section.name}" for page, section in SECTIONS]
FILES = ("treebank", "turned", "images", "gpt2")
WITHOUT_HEADLINES = ("compare", "query", "sequences")
"""Of several files, and those that run the model for what they show."""


def places() -> Iterator[Any]:
    """Yield sections with files; those other than their home are left out of the fast tier."""
    for number, (page, section) in enumerate(SECTIONS):
        home = home_of(page, section)
        others = () if page in OF_TREES else ("treebank", "turned", "images", "gpt2")
        for name in (home, *(other for other in others if other != home)):
            marks = () if name == home else pytest.mark.slow
            yield pytest.param((page, section, name), id=f"{IDS[number]}-{name}", marks=marks)


@dataclass(frozen=True)
class Place:
    """A section on a file, as it ran in each language."""

    page: str
    section: Section
    name: str
    store: Store
    ran: dict[str, Ran]

    @property
    def pair(self) -> tuple[str, str]:
        return self.page, self.section.name

    @property
    def is_offered(self) -> bool:
        parts = (part for part in sections(self.page) if part.name == self.section.name)
        return any(part.when(self.store) for part in parts)

    @property
    def is_home(self) -> bool:
        return self.name == home_of(self.page, self.section)

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages to speak: on files other than the home one, which takes turns with others."""
        if self.is_home:
            return BOTH
        turn = SECTIONS.index((self.page, self.section)) + FILES.index(self.name)
        return (BOTH[turn % 2],)


@pytest.fixture(scope="session")
def steps_folder(store_folder, tmp_path_factory) -> Path:
    """A folder with two checkpoints of one training."""
    folder = tmp_path_factory.mktemp("steps")
    for step in (1000, 2000):
        path = copyfile(store_folder / "tiny.duckdb", folder / f"step{step}.duckdb")
        with duckdb.connect(str(path)) as store:
            store.execute(f"update stored.run set model = 'some/model@step{step}'")
    return folder


@pytest.fixture(scope="module", params=places())
def place(request) -> Iterator[Place]:
    """A section run in each language of a file; in English alone in the fast tier."""
    page, section, name = request.param
    folder = request.getfixturevalue(f"{name}_folder")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIXSCOPE_STATISTICS", str(folder))
        found = Place(page, section, name, looked_at(min(folder.glob("*.duckdb"))), {})
        languages = ("en",) if request.config.getoption("fast") else found.languages
        for lang in languages if found.is_offered else ():
            if page == "sequences":
                found.ran[lang] = ran_in_session(page, section.name, lang)
                continue
            found.ran[lang] = undrawn(page, section, found.store, lang)
        yield found


def undrawn(page: str, section: Section, store: Store, lang: str, **choices: str) -> Ran:
    """Run a section in a language; nothing may be drawn."""
    with spoken(lang), patch.object(DeltaGenerator, "_enqueue", side_effect=AssertionError):
        return ran(page, section.name, store, **FOR_ALL | choices)


def test_a_section_is_whole_in_both_languages_and_can_be_exported(place):
    assert place.is_offered == (place.pair not in NOT_OFFERED.get(place.name, OF_OTHERS))
    for lang, found in place.ran.items():
        assert not [*found.texts("warning"), *found.texts("error")]
        assert_whole(found)
        if place.name == "images":
            assert_of_images(found, is_never=place.pair in NEVER_OF_IMAGES, lang=lang)
        elif place.is_home:
            assert found.shown
        if place.page != "token_pairs":  # which shows tokens as the vocabulary has them
            assert "Ġ" not in " ".join(seen.body for seen in found.pictures).replace('"Ġ', "")
    if place.is_home:
        assert_home(place)


def assert_whole(found: Ran) -> None:
    """Check the texts, data and charts of all that a section shows."""
    names = [item.shown.name for item in found.shown]
    assert len(set(names)) == len(names), "what is shown is found again by its name"
    assert found.shown or found.texts("info")
    for item in found.shown:
        assert item.shown.question
        assert item.shown.source
        assert item.shown.asked.queries
        assert len(item.shown.frame), item.shown.name
        if isinstance(item, Figure):
            assert item.shown.chart.to_dict(), item.shown.name
    said = " ".join((*found.findings, *found.texts("markdown"))).lower()
    assert not {"nan", "+nan"} & set(said.split())


def assert_of_images(found: Ran, *, is_never: bool, lang: str) -> None:
    """Check that a section on images gives the reason if it has nothing."""
    reasons = [note for note in found.texts("info") if "**" in note]
    assert bool(reasons) == is_never
    if is_never:
        assert not found.texts("code"), "no command makes what images never have"
        assert lang == "ja" or "Images have n" in found.texts("info")[0]


def assert_home(place: Place) -> None:
    """Check queries, translation and exports of a section; exports in one language or the other."""
    english = place.ran["en"]
    with duckdb.connect(str(place.store.version.path), read_only=True) as store:
        for query in {sql for item in english.shown for sql in item.shown.asked.queries}:
            assert store.execute(query).description
    if "ja" not in place.ran:
        return
    assert_every_verdict_has_words(place, english)
    assert_clicks_choose(english)
    questions = [
        {item.shown.question for item in found.shown if " → " not in item.shown.question}
        for found in place.ran.values()
    ]
    assert questions[0].isdisjoint(questions[1])
    for item in place.ran[BOTH[SECTIONS.index((place.page, place.section)) % 2]].shown:
        if not item.shown.key.startswith("seq_odd_question"):  # whose line at 0 is of no row
            assert_exported_as_shown(item.shown)


def assert_every_verdict_has_words(place: Place, found: Ran) -> None:
    """Check that no verdict on the rows of a finding lacks a value for its words."""
    with words_of(*place.pair):
        for rows, finding in found.evidence:
            for side in get_args(grammar.Verdict):
                with patch.object(grammar, "verdict", return_value=side):
                    assert all(grammar.sentences(rows, finding))


def assert_clicks_choose(found: Ran) -> None:
    """Check that a click on a mark tells all that the choice which it makes is read from."""
    for item in found.shown:
        if isinstance(item, Figure | Table) and item.follow:
            before, [mark, *_] = {*st.session_state}, marks_of(item)
            item.follow(mark)
            chosen = {*st.session_state} - before
            assert chosen, f"a click on {item.shown.name} chooses nothing"
            for key in chosen:
                del st.session_state[key]


def marks_of(item: Figure | Table) -> list[dict[Any, Any]]:
    """Rows of a table, or the fields of marks that the first selection of a chart returns."""
    if isinstance(item, Table):
        return item.full.head(1).to_dict("records")
    drawn = with_data(item.shown.chart)
    selections = [given["select"] for given in drawn["params"] if "select" in given]
    fields = next(of["fields"] for of in selections if "fields" in of)
    rows = chain.from_iterable(drawn["datasets"].values())
    marks = ({name: row.get(name) for name in fields} for row in rows)
    return [mark for mark in marks if None not in mark.values()]


def test_charts_are_drawn_with_what_their_captions_promise(place):
    for lang, found in place.ran.items():
        of_readers = {"qu_table"}  # whose own columns no caption knows
        seen = [picture for picture in found.pictures if picture.where not in of_readers]
        assert not [fault for picture in seen for fault in broken(picture, lang)]
    for figure in place.ran["en"].shown if place.is_home else ():
        if isinstance(figure, Figure):
            picture = svg(figure.shown.chart)
            assert "mark-" in picture
            assert "NaN" not in picture
            assert "undefined" not in picture


def test_numbers_of_a_headline_are_the_same_in_both_languages(place):
    given = [_all_numbers(found.values) for found in place.ran.values()]
    both = {n for n in set().union(*given) if len(n) > 1}  # smaller ones have words
    written = [_all_numbers(found.findings) & both for found in place.ran.values()]
    assert all(numbers == written[0] for numbers in written)


def _all_numbers(texts: list[Any]) -> set[str]:
    return {number for text in texts for number in numbers(f"{text}")}


@pytest.mark.slow
@pytest.mark.parametrize(("page", "section"), SECTIONS, ids=IDS)
def test_a_page_draws_what_its_section_shows(page, section, opened, request):
    folder = request.getfixturevalue(f"{home_of(page, section)}_folder")
    session = opened(page, folder, lang="ja", **{VIEWS[page]: section.name}, **FOR_ALL)
    assert_sound(session)
    assert session.session_state[VIEWS[page]] == section.name
    assert not [*session.toast, *session.error]
    assert session.title
    assert session.header
    assert session.expander, "how it is measured is not told"
    assert charts(session) or session.dataframe or session.get("html")


WITH_HEADLINES = [
    (*of, name) for of, name in zip(SECTIONS, IDS, strict=True) if of[0] not in WITHOUT_HEADLINES
]
RECORDED = [pytest.param(page, section, id=name) for page, section, name in WITH_HEADLINES]
HOMES = [
    pytest.param((page, section, home_of(page, section)), id=name, marks=pytest.mark.slow)
    for page, section, name in WITH_HEADLINES
]
MOST = 2
"""Options of a picker that are tried."""
OWN = {"re_seq": "own", "re_image": "own", "tp_live": "live"}
"""Options that ask for a text or an image, or run the model."""
SHOW_THE_SAME = {
    *("he_text", "re_scale", "sy_relation", "hm_neighbour", "hm_entropy", "hm_token_type"),
    *("co_text=18", "po_files=tiny.duckdb", "hh_behaviours=other", "co_weighing=norm"),
    "sy_direction=head_to_dependent",
}
"""Pickers and options that show the same as the default on small files: thresholds that no head
passes, texts and relations of few words, the only file."""


@pytest.mark.parametrize("place", HOMES, indirect=True)
def test_every_option_of_a_section_shows_something_else_in_words(place):
    languages = cycle(("ja", "en"))
    for key, option in options_of(place.ran["en"]):
        lang = next(languages)
        found = undrawn(place.page, place.section, place.store, lang, **{key: option})
        assert_whole(found)
        chosen = found.chosen[key]
        assert option in map(str, chosen if isinstance(chosen, list) else [chosen])
        if SHOW_THE_SAME.isdisjoint({key, f"{key}={option}"}):
            assert seen_in(found) != seen_in(place.ran[lang]), f"{key}: {option} changes nothing"


def seen_in(found: Ran) -> str:
    """Numbers, charts and texts of a section."""
    frames = [item.shown.frame.to_dict() for item in found.shown]
    charts = [item.shown.chart.to_dict() for item in found.shown if isinstance(item, Figure)]
    return f"{frames} {charts} {found.said}"


def options_of(found: Ran) -> Iterator[tuple[str, str]]:
    """Yield options of pickers with their keys in the address."""
    for control in found.items:
        if isinstance(control, Control) and control.key != "head":
            skipped = (OWN.get(control.key), str(found.chosen[control.key]))
            names = [str(name) for name in control.labels if str(name) not in skipped]
            for name in names[:: max(1, -(-len(names) // MOST))]:
                yield control.key, name


@pytest.mark.parametrize("place", [of for of in HOMES if of.id == "head_map-map"], indirect=True)
def test_charts_beside_each_other_have_their_own_headlines_and_the_finding_above_them(place):
    first, second = (item.shown for item in place.ran["en"].shown)
    assert first.above == second.above
    assert first.above
    assert not first.finding
    expected = [second.question, *sentences(unmarked(first.above))]
    assert list(item_of(second).said) == expected


OF_CORPORA = {table.name for table in corpus.TABLES}


@pytest.mark.slow
@pytest.mark.parametrize(("page", "section"), RECORDED)
def test_a_section_needs_what_it_says_and_nothing_else(page, section, request):
    name = home_of(page, section)
    store = looked_at(request.getfixturevalue(f"{name}_folder") / "tiny.duckdb")
    needed = [table.name for table in section.needs]
    kept = OF_CORPORA.union(needed) if needed else set(store.rows)
    others = [table for table in store.rows if table not in kept]
    request.getfixturevalue(f"after_{name}")(*(f"delete from stored.{other}" for other in others))
    held = replace(store, rows=store.rows | dict.fromkeys(others, 0))
    if (page, section.name) != ("syntax", "parsers"):  # whose trees another statistic shows
        assert ran(page, section.name, held, **FOR_ALL).shown
    if not needed or page in OF_TREES:
        return
    held = replace(held, rows=held.rows | {needed[-1]: 0})
    lacks = ran(page, section.name, held, **FOR_ALL)
    assert not lacks.shown
    assert needed[-1] in lacks.texts("info")[0]
    assert f"--statistics {needed[-1]}" in lacks.texts("code")[0]


CLAIMS = ("above", "below", "clear", "rare", "frequent", "shorter", "longer", "alike")
"""Ends of words of which another, `unclear`, is said where the interval does not bear them out."""
OF_NO_INTERVAL = {("head_map", "map"), ("head_map", "layers"), ("syntax", "parsers")}
"""Sections that hold a stress, which has none, against a rule, p against its level, and extremes of
several trainings, which are no columns of the file."""
OWN_IMAGE = 'img src="data:image/'
HOSTILE = '<img src=x onerror="y"><script>alert(1)</script> **x** `y` $z$'
TEXTS = {
    **{"token": "token", "vocabulary": "token", "sequence": "text", "word": "form"},
    **{"image": "name", "class_prediction": "label"},
}
"""Columns of texts that came from strangers, by table."""
ENDS = """
    select table_name, column_name from duckdb_columns()
    where schema_name = 'stored' and regexp_matches(column_name, '(^|_)(low|high|p_value)$'
        || '|^error_|^error$')
"""
TYPED = (
    *("token_type_mixing", "attention_norm_correlation", "attention_norm_histogram"),
    *("attention_norm_sample", "head_token"),
)


def hold_everything(store: duckdb.DuckDBPyConnection) -> None:
    """Let every interval hold 0, 1 and every number, and every text be markup."""
    for table, column in store.execute(ENDS).fetchall():
        value = 0 if column.endswith("low") else 1 if column == "p_value" else 1000
        update = f'update stored."{table}" set "{column}" = {value}'
        store.execute(f'{update} where "{column}" is not null')
    for table, column in TEXTS.items():
        store.execute(f"update stored.{table} set {column} = {column} || ?", [HOSTILE])


def hold_little(store: duckdb.DuckDBPyConnection) -> None:
    """Take away every interval and two types of tokens, as of few texts."""
    for table, column in store.execute(ENDS).fetchall():
        store.execute(f'update stored."{table}" set "{column}" = null')
    for table in TYPED:
        store.execute(f"delete from stored.{table} where token_type in ('sep', 'comma_period')")
        store.execute(rows_of(table))


STRANGE = {"everything": hold_everything, "little": hold_little}


@pytest.fixture(scope="module")
def strange(tmp_path_factory) -> dict[tuple[Path, str], Path]:
    """Changed copies of files, by their folders and what is strange of them."""

    class Made(dict[tuple[Path, str], Path]):
        def __missing__(self, of: tuple[Path, str]) -> Path:
            source, kind = of
            copy = tmp_path_factory.mktemp("strange") / "tiny.duckdb"
            copyfile(source / "tiny.duckdb", copy)
            with duckdb.connect(str(copy)) as store:
                STRANGE[kind](store)
            self[of] = copy
            return copy

    return Made()


@pytest.mark.slow
@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize(("page", "section"), RECORDED)
def test_nothing_is_claimed_of_a_strange_file_and_no_text_is_markup(
    page, section, kind, strange, request, monkeypatch
):
    path = strange[request.getfixturevalue(f"{home_of(page, section)}_folder"), kind]
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(path.parent))
    found = ran(page, section.name, described(version_of(path)), **FOR_ALL)
    if (page, section.name) not in OF_NO_INTERVAL:
        assert not any(map(is_claim, found.keys)), found.findings
    for item in found.items:
        if isinstance(item, Text) and item.kind not in ("code", "html"):
            assert_plain(item.body)
        if isinstance(item, Markup) or (isinstance(item, Text) and item.kind == "html"):
            body = item.body if isinstance(item.body, str) else ""
            assert not re.search("<(?:img|script)", body.replace(f"<{OWN_IMAGE}", ""))
        if isinstance(item, Figure | Table | Markup):
            for text in (item.shown.question, item.shown.caption, *item.notes):
                assert_plain(text)
            assert "nan" not in item.shown.finding.lower().split()
    for text in found.findings:
        assert_plain(text)


def assert_plain(text: str) -> None:
    """Check that nothing in a text of markdown is markup of a stranger."""
    assert not re.search(r"(?<!\\)<(?:img|script)|(?<!\\)\*\*x", text), text


def is_claim(key: str) -> bool:
    """Return True if a word claims what another leaves open."""
    stem, _, end = re.sub(r"_(?=[a-z]+$)", " ", key).rpartition(" ")
    if key.rpartition(".")[2] in CLAIMS:
        stem, end = key.rpartition(".")[0], key.rpartition(".")[2]
        return f"{stem}.unclear" in words.catalogue()
    return end in CLAIMS and f"{stem}_unclear" in words.catalogue()
