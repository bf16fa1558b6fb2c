"""Checks that every section of every page has to pass, on files of all kinds.

The files are an encoder's, with intervals; a decoder's with rotary positions; a Vision
Transformer's; two steps of a training; others with too few texts. Each section is drawn in both
languages on a file that has all it can show, in one of them on others, and all checks read that
drawing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from analysis.contracts import every_table
from analysis.statistics import corpus
from pages.kit.links import VIEWS
from pages.kit.section import Section
from tests.pages.conftest import assert_sound, bodies, charts, frames
from tests.pages.findings.numbers import missing_from, numbers
from tests.pages.kit.copies import changed_copy, lacking
from tests.pages.kit.drawn import FOR_ALL, Drawn, draw
from tests.pages.kit.exports import assert_exported_as_shown
from tests.pages.kit.promises import PROMISES, Pictured, broken
from tests.pages.kit.section_checks import assert_opened, assert_translated, home_of, sections

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
HALTED_BY_IMAGES = NEVER_OF_IMAGES | {("head", "waves")}
"""Those, and sections that this file of images has too little for."""
SECTIONS = [(page, section) for page in VIEWS for section in sections(page)]
IDS = [f"{page}-{section.name}" for page, section in SECTIONS]
FILES = ("treebank", "turned", "images", "gpt2", "causal_trees")
WITH_FEW_TEXTS = ("gpt2", "causal_trees")
WITHOUT_HEADLINES = ("compare", "query", "sequences")
"""Of several files, and those that run the model for what they show."""


def places() -> Iterator[Any]:
    """Yield sections with files; those other than their home are left out of the fast tier."""
    for number, (page, section) in enumerate(SECTIONS):
        home = home_of(page, section)
        others = ("causal_trees",) if page in OF_TREES else ("treebank", "turned", "images", "gpt2")
        for name in (home, *(other for other in others if other != home)):
            marks = () if name == home else pytest.mark.slow
            yield pytest.param((page, section, name), id=f"{IDS[number]}-{name}", marks=marks)


@dataclass(frozen=True)
class Place:
    """A section on a file."""

    page: str
    section: Section
    name: str
    folder: Path
    drawn: dict[str, Drawn]

    @property
    def pair(self) -> tuple[str, str]:
        return self.page, self.section.name

    @cached_property
    def is_offered(self) -> bool:
        return self.pair not in NOT_OFFERED.get(self.name, OF_OTHERS)

    @property
    def is_home(self) -> bool:
        return self.name == home_of(self.page, self.section)

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages to draw in: on files other than the home one, which takes turns with others."""
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
def place(request, offered) -> Place:
    """A section drawn in each language of a file; in English alone in the fast tier."""
    page, section, name = request.param
    folder = request.getfixturevalue(f"{name}_folder")
    found = Place(page, section, name, folder, {})
    for lang in ("en",) if request.config.getoption("fast") else found.languages:
        found.drawn[lang] = draw(page, section.name, folder, lang, offered)
    return found


def shown(page: str, session: AppTest) -> str:
    """Name of the drawn section: the first one if the requested one is missing."""
    return session.session_state[VIEWS[page]]


def test_a_section_is_whole_in_both_languages_and_can_be_exported(place):
    for lang, drawn in place.drawn.items():
        session = drawn.session
        assert (shown(place.page, session) == place.section.name) == place.is_offered
        assert bool(session.toast) != place.is_offered, "whoever asks for another section is told"
        if place.name == "images":
            assert_of_images(session, is_never=place.pair in NEVER_OF_IMAGES, lang=lang)
        if place.name != "images" or place.pair not in HALTED_BY_IMAGES:
            assert_opened(session)
            assert charts(session) or frames(session) or bodies(session)
        if place.page != "token_pairs":  # which shows tokens as the vocabulary has them
            assert "Ġ" not in bodies(session).replace('"Ġ', "")
    if place.is_home:
        assert_home(place)


def assert_of_images(session: AppTest, *, is_never: bool, lang: str) -> None:
    """Check that a section on images warns of nothing, and gives the reason if it has nothing."""
    assert not session.error
    assert not session.warning, [warning.value for warning in session.warning]
    reasons = [note.value for note in session.info if "**" in note.value]
    assert bool(reasons) == is_never
    if is_never:
        assert not session.code, "no command makes what images never have"
        assert lang == "ja" or "Images have n" in session.info[0].value


def assert_home(place: Place) -> None:
    """Check queries, translation and exports of a section; exports in one language or the other."""
    assert_asked_again(place.drawn["en"].session, place.folder)
    if "ja" not in place.drawn:
        return
    english, japanese = (place.drawn[lang].session for lang in BOTH)
    pairs = {heading.value for heading in english.subheader if " → " in heading.value}
    assert_translated(english, japanese, but=pairs)
    assert english.title[0].value != japanese.title[0].value
    offers = place.drawn[BOTH[SECTIONS.index((place.page, place.section)) % 2]].offers
    assert offers
    for key, offer in offers.items():
        if not key.startswith("seq_odd_question"):  # whose line at 0 is of no row
            assert_exported_as_shown(offer)


def assert_asked_again(session: AppTest, folder: Path) -> None:
    """Check that the SQL behind a section runs on the file without Mixscope."""
    queries = {code.value for code in session.code if code.language == "sql"}
    assert queries
    file = min(folder.glob("*.duckdb"))
    with duckdb.connect(str(file), read_only=True) as store:
        for query in queries:
            assert store.execute(query).description


def test_what_a_caption_names_is_drawn(place):
    for lang, drawn in place.drawn.items() if place.is_offered else ():
        faults = [fault for seen in drawn.pictures for fault in broken(seen, lang)]
        faults += [
            f"{seen.where}: an interval is shown and not told"
            for seen in drawn.pictures
            if seen.has_interval and not is_told(seen, lang)
        ]
        assert not faults, "\n".join(dict.fromkeys(faults))


def is_told(seen: Pictured, lang: str) -> bool:
    """Return True if a text describes intervals; a reader's own columns are left out."""
    interval = PROMISES["interval"]
    return seen.where == "qu_table" or any(interval.is_made(text, lang) for text in seen.texts)


LEVELS = {"95%", "90%", "5%"}
"""Of intervals, above which a head is the same in all texts, and of a share on the top tokens."""
NOT_SHOWN = {
    ("norms", "layers"): 2,  # shares of all special types together
    ("relevance", "map"): 3,  # shares inside a mask and on special tokens
    ("relevance", "text"): 3,
    ("head_map", "map"): 1,  # ln 2, the largest distance
    ("head_map", "layers"): 1,  # the level of p
    ("layer_mixing", "completeness"): 3,  # digits before powers of ten
}
"""Numbers that are sums or means of what is shown that `values_of` does not form, counted."""


def test_numbers_of_a_headline_are_those_of_its_section_in_both_languages(place):
    if place.page in WITHOUT_HEADLINES or place.name in WITH_FEW_TEXTS:
        return
    with duckdb.connect(str(place.folder / "tiny.duckdb"), read_only=True) as store:
        [(n_layers, n_heads)] = store.execute("select n_layers, n_heads from run").fetchall()
    facts = {str(n) for n in (n_layers, n_heads, n_layers * n_heads)}
    drawn = next(iter(place.drawn.values()))
    written, given = _all_numbers(drawn.headlines), _all_numbers(drawn.values)
    tables = [table.value for table in drawn.session.dataframe]
    seen = [*(frame for frame, _ in drawn.offers.values()), *tables, *drawn.answers]
    missing = missing_from(seen, written & given - facts - LEVELS)
    assert len(missing) <= NOT_SHOWN.get(place.pair, 0), f"{drawn.headlines}: {missing}"
    for other in list(place.drawn.values())[1:]:
        every = {n for n in given | _all_numbers(other.values) if len(n) > 1}  # few have words
        assert written & every == _all_numbers(other.headlines) & every


def _all_numbers(texts: list[Any]) -> set[str]:
    return {number for text in texts for number in numbers(f"{text}")}


OF_PAGES = {page: section for page, section in reversed(SECTIONS) if section.needs}
OF_PAGES.pop("compare")
"""The first section of each page; one frame names what is missing, whatever section is drawn."""


@pytest.mark.slow
@pytest.mark.parametrize("page", OF_PAGES)
def test_a_statistic_that_the_file_lacks_is_named(page, opened, request, tmp_path):
    section = OF_PAGES[page]
    table = section.needs[-1].name
    home = request.getfixturevalue(f"{home_of(page, section)}_folder")
    folder = changed_copy(home, tmp_path, *lacking(table))
    session = opened(page, folder, **{VIEWS[page]: section.name}, **FOR_ALL)
    assert_sound(session)
    assert shown(page, session) == section.name
    assert not charts(session)
    assert session.info
    if page not in OF_TREES:  # which need another corpus, as their own tests say
        assert table in session.info[0].value
        assert f"--statistics {table}" in session.code[0].value


OF_CORPORA = {table.name for table in corpus.TABLES}
WITH_MORE = [
    pytest.param(page, section, id=f"{page}-{section.name}")
    for page, section in SECTIONS
    if section.also and section.needs and page not in ("compare", "sequences")
]
"""Sections that show more where the file holds more than they need."""


@pytest.mark.slow
@pytest.mark.parametrize(("page", "section"), WITH_MORE)
def test_a_section_is_drawn_with_nothing_but_what_it_needs(
    page, section, opened, request, tmp_path
):
    home = request.getfixturevalue(f"{home_of(page, section)}_folder")
    needed = OF_CORPORA | {table.name for table in section.needs}
    others = [table.name for table in every_table() if table.name not in needed]
    folder = changed_copy(home, tmp_path, *chain.from_iterable(map(lacking, others)))
    session = opened(page, folder, **{VIEWS[page]: section.name}, **FOR_ALL)
    assert_sound(session)
    assert_opened(session)
    assert charts(session) or frames(session) or bodies(session)
