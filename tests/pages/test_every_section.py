"""Checks that every section of every page has to pass, on files of all kinds.

The files are an encoder's, with intervals; a decoder's with rotary positions; a Vision
Transformer's; two steps of a training; others with too few texts; and strange ones. Sections run
without a page, in both languages on a file that has all they can show, in one of them on others.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain, cycle, product
from pathlib import Path
from shutil import copyfile
from typing import Any, get_args
from unittest.mock import patch

import duckdb
import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.statistics import corpus
from pages.export.files import svg
from pages.kit import grammar
from pages.kit.items import Control, Figure, Markup, Table, Text
from pages.kit.links import VIEWS
from pages.kit.section import Section
from pages.services.open_file import Store, described, looked_at, version_of
from pages.words import say as words
from pages.words.scope import words_of
from tests.pages.conftest import assert_sound, charts
from tests.pages.kit.charts import assert_exported_as_drawn, broken
from tests.pages.kit.ran import FOR_ALL, Ran, home_of, ran, ran_in_session, sections, spoken
from tests.pages.kit.stores import rows_of

OF_TREES = ("syntax", "coreference")
OF_OTHERS = {("compare", "heads"), ("compare", "pairs"), ("relevance", "map")}
NOT_OFFERED = {
    "turned": OF_OTHERS | {("positions", "waves")},
    "images": OF_OTHERS - {("relevance", "map")}
    | {("relevance", "text"), ("positions", "content"), ("head", "words")},
    "steps": set(),
}
NEVER_OF_IMAGES = {
    *{("norms", "frequency"), ("layer_mixing", "frequency"), ("layer_mixing", "modules")},
    *{("token_pairs", stem) for stem in ("workbench", "tables", "pmi")},
    ("sequences", "pairs"),
}
"""Sections on words, which are offered and say why images have nothing to show there."""
SECTIONS = [(page, section) for page in VIEWS for section in sections(page)]
FILES = ("treebank", "turned", "images", "gpt2")
WITH_HEADLINES = [of for of in SECTIONS if of[0] not in ("compare", "query", "sequences")]
"""But those of several files, and those that run the model for what they show."""


def name_of(value: Any) -> str | None:
    return value.name if isinstance(value, Section) else None


of_headlines = pytest.mark.parametrize(("page", "section"), WITH_HEADLINES, ids=name_of)


def places() -> Iterator[Any]:
    """Yield sections with files; the fast tier has those of one file that run no model."""
    for page, section in SECTIONS:
        home = home_of(page, section)
        for name in (home, *(other for other in FILES if other != home and page not in OF_TREES)):
            is_fast = name == home == "treebank" and page != "sequences"
            marks = () if is_fast else pytest.mark.slow
            place = (page, section, name)
            yield pytest.param(place, id=f"{page}-{section.name}-{name}", marks=marks)


@pytest.fixture(scope="session")
def steps_folder(treebank_folder, tmp_path_factory) -> Path:
    """A folder with two checkpoints of one training."""
    folder = tmp_path_factory.mktemp("steps")
    for step in (1000, 2000):
        path = copyfile(treebank_folder / "tiny.duckdb", folder / f"step{step}.duckdb")
        with duckdb.connect(str(path)) as store:
            store.execute(f"update stored.run set model = 'some/model@step{step}'")
    return folder


def undrawn(page: str, section: Section, store: Store, lang: str, **choices: str) -> Ran:
    """Run a section in a language; nothing may be drawn."""
    with spoken(lang), patch.object(DeltaGenerator, "_enqueue", side_effect=AssertionError):
        return ran(page, section.name, store, **FOR_ALL | choices)


OF_OTHER_MODELS = {
    *("class_prediction", "image", "no_token", "offset_term", "patch_offset", "perturbation"),
    *("position_kernel", "rotary_plane", "score_share", "sequence_no_token"),
    "sequence_perturbation",
}
"""Tables of images, classes, sink logits, and positions that are not added to the input."""


def test_the_file_of_most_sections_has_rows_of_every_table_that_its_model_allows(treebank_folder):
    rows = looked_at(treebank_folder / "tiny.duckdb").rows
    assert {name for name, n in rows.items() if not n} == OF_OTHER_MODELS


@pytest.mark.parametrize("place", places())
def test_a_section_is_whole_in_both_languages_and_can_be_exported(place, request, monkeypatch):
    """In both languages on its home, which take turns on other files."""
    page, section, name = place
    folder = request.getfixturevalue(f"{name}_folder")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    store = looked_at(min(folder.glob("*.duckdb")))
    offered = [part for part in sections(page) if part.name == section.name and part.when(store)]
    assert bool(offered) == ((page, section.name) not in NOT_OFFERED.get(name, OF_OTHERS))
    is_home, is_fast = name == home_of(page, section), request.config.getoption("fast")
    languages = ("en", "ja")
    if is_fast or not is_home:
        turn = 0 if is_home else SECTIONS.index((page, section)) + FILES.index(name)
        languages = languages[turn % 2 :][:1]
    found: dict[str, Ran] = {}
    for lang in languages if offered else ():
        if page == "sequences":
            found[lang] = ran_in_session(page, section.name, lang)
        else:
            found[lang] = undrawn(page, section, store, lang)
        assert not [*found[lang].texts("warning"), *found[lang].texts("error")]
        assert_whole(found[lang])
        for item in found[lang].shown:
            if item.shown.key != "qu_table":  # whose columns are the reader's own
                assert not [*broken(item, found[lang].drawn[item.shown.name], lang)]
        if name == "images":
            is_never = (page, section.name) in NEVER_OF_IMAGES
            assert any("**" in note for note in found[lang].texts("info")) == is_never
            assert not (is_never and found[lang].texts("code")), "no command makes what is never"
    if is_home:
        assert found["en"].shown
        assert_home(page, section, store, found)
        for chart in filter(None, found["en"].drawn.values() if not is_fast else ()):
            picture = svg(chart)
            assert "mark-" in picture
            assert not re.search("NaN|undefined", picture)
        if not is_fast and (page, section) in WITH_HEADLINES:
            assert_options(page, section, store, found)


def assert_whole(found: Ran) -> None:
    """Check the texts, data and charts of all that a section shows."""
    assert len(found.drawn) == len(found.shown), "what is shown is found again by its name"
    assert found.shown or found.texts("info")
    for item in found.shown:
        assert item.shown.question
        assert item.shown.source
        assert item.shown.asked.queries
        assert len(item.shown.frame), item.shown.name
    said = " ".join((*found.findings, *found.texts("markdown"))).lower()
    assert not {"nan", "+nan"} & set(said.split())


def assert_home(page: str, section: Section, store: Store, found: dict[str, Ran]) -> None:
    """Check the queries, words, clicks, drawings and exports of a section."""
    english = found["en"]
    with duckdb.connect(str(store.version.path), read_only=True) as opened:
        for query in {sql for item in english.shown for sql in item.shown.asked.queries}:
            assert opened.execute(query).description
    with words_of(page, section.name):
        for (rows, finding), side in product(english.evidence, get_args(grammar.Verdict)):
            with patch.object(grammar, "verdict", return_value=side):
                assert all(grammar.sentences(rows, finding)), "a verdict has no words"
    questions = [{item.shown.question for item in of.shown} for of in found.values()]
    assert len(questions) == 1 or not any("→" not in of for of in set.intersection(*questions))
    for item in english.shown:
        drawn = english.drawn[item.shown.name]
        if item.shown.name != "odd_question":  # whose line at 0 is of no row
            assert_exported_as_drawn(item.shown, drawn)
        if isinstance(item, Figure | Table) and item.follow:
            before = {*st.session_state}
            item.follow(mark_of(item, drawn))
            chosen = {*st.session_state} - before
            assert chosen, f"a click on {item.shown.name} chooses nothing"
            for key in chosen:
                del st.session_state[key]


def mark_of(item: Figure | Table, drawn: Mapping[str, Any]) -> dict[Any, Any]:
    """A row of a table, or the fields of a mark that the first selection of a chart returns."""
    if isinstance(item, Table):
        return item.full.head(1).to_dict("records")[0]
    selections = [given["select"] for given in drawn["params"] if "select" in given]
    fields = next(of["fields"] for of in selections if "fields" in of)
    marks = ({name: row.get(name) for name in fields} for row in chain(*drawn["datasets"].values()))
    return next(mark for mark in marks if None not in mark.values())


OWN = {"re_seq": "own", "re_image": "own", "tp_live": "live"}
"""Options that ask for a text or an image, or run the model."""
SHOW_THE_SAME = {
    *("he_text", "re_scale", "sy_relation", "hm_neighbour", "hm_entropy", "hm_token_type"),
    *("co_text=18", "po_files=tiny.duckdb", "hh_behaviours=other", "co_weighing=norm"),
    "sy_direction=head_to_dependent",
}
"""Pickers and options that show the same as the default on small files: thresholds that no head
passes, texts and relations of few words, the only file."""


def assert_options(page: str, section: Section, store: Store, found: dict[str, Ran]) -> None:
    """Check that two options of every picker show something else, in one language or the other."""
    languages, seen = cycle(("ja", "en")), {lang: seen_in(of) for lang, of in found.items()}
    default = found["en"].chosen
    for control in found["en"].items:
        if not isinstance(control, Control) or control.key == "head":
            continue
        skipped = (OWN.get(control.key), str(default[control.key]))
        names = [str(name) for name in control.labels if str(name) not in skipped]
        for name in names[:: max(1, -(-len(names) // 2))]:
            lang = next(languages)
            other = undrawn(page, section, store, lang, **{control.key: name})
            assert_whole(other)
            chosen = other.chosen[control.key]
            assert name in map(str, chosen if isinstance(chosen, list) else [chosen])
            if SHOW_THE_SAME.isdisjoint({control.key, f"{control.key}={name}"}):
                assert seen_in(other) != seen[lang], f"{control.key}: {name} changes nothing"


def seen_in(found: Ran) -> str:
    """Numbers, charts and texts of a section."""
    frames = [item.shown.frame.to_dict() for item in found.shown]
    return f"{frames} {found.drawn} {found.said}"


@pytest.mark.slow
@pytest.mark.parametrize(("page", "section"), SECTIONS, ids=name_of)
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


@pytest.mark.slow
@of_headlines
def test_a_section_needs_what_it_says_and_nothing_else(page, section, request, after):
    name = home_of(page, section)
    store = looked_at(request.getfixturevalue(f"{name}_folder") / "tiny.duckdb")
    needed = [table.name for table in section.needs]
    kept = {table.name for table in corpus.TABLES}.union(needed) if needed else set(store.rows)
    others = [table for table in store.rows if table not in kept]
    after(*(f"delete from stored.{other}" for other in others), to=name)
    held = replace(store, rows=store.rows | dict.fromkeys(others, 0))
    if (page, section.name) != ("syntax", "parsers"):  # whose trees another statistic shows
        assert ran(page, section.name, held, **FOR_ALL).shown
    if needed and page not in OF_TREES:
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


@pytest.fixture(scope="module")
def strange(tmp_path_factory) -> Callable[..., Path]:
    """Changed copies of files."""

    @cache
    def make(source: Path, change: Callable[[duckdb.DuckDBPyConnection], None]) -> Path:
        copy = tmp_path_factory.mktemp("strange") / "tiny.duckdb"
        with duckdb.connect(str(copyfile(source / "tiny.duckdb", copy))) as store:
            change(store)
        return copy

    return make


@pytest.mark.slow
@pytest.mark.parametrize("change", [hold_everything, hold_little])
@of_headlines
def test_nothing_is_claimed_of_a_strange_file_and_no_text_is_markup(
    page, section, change, strange, request, monkeypatch
):
    path = strange(request.getfixturevalue(f"{home_of(page, section)}_folder"), change)
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(path.parent))
    found = ran(page, section.name, described(version_of(path)), **FOR_ALL)
    if (page, section.name) not in OF_NO_INTERVAL:
        assert not any(map(is_claim, found.keys)), found.findings
    texts, bodies = [*found.findings], []
    for item in found.items:
        if isinstance(item, Text) and item.kind != "code":
            (bodies if item.kind == "html" else texts).append(item.body)
        if isinstance(item, Markup) and isinstance(item.body, str):
            bodies.append(item.body)
    for of in found.shown:
        texts += [of.shown.question, of.shown.caption, *of.notes]
    assert not re.search(r"(?<!\\)<(?:img|script)|(?<!\\)\*\*x", "\n".join(texts))
    assert not re.search('<(?:img(?! src="data:image/)|script)', "\n".join(bodies))
    assert not [of for of in found.shown if "nan" in of.shown.finding.lower().split()]


def is_claim(key: str) -> bool:
    """Return True if a word claims what another leaves open."""
    parts = re.fullmatch("(.+[._])([a-z]+)", key)
    return bool(parts and parts[2] in CLAIMS and f"{parts[1]}unclear" in words.catalogue())
