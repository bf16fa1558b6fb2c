"""Checks that every section of every page has to pass."""

from itertools import cycle
from pathlib import Path
from shutil import copyfile

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from analysis.needs import Need
from pages.ui.choices.links import VIEWS
from pages.ui.page import Section
from tests.pages.conftest import assert_sound, bodies, charts, frames
from tests.pages.kit.copies import changed_copy, lacking
from tests.pages.kit.exports import assert_exported_as_shown
from tests.pages.kit.section_checks import assert_opened, assert_translated, sections

OF_TREEBANKS = ("syntax", "coreference")
OF_LLAMA = frozenset({Need.KERNELS, Need.TURNED_POSITIONS, Need.GATES})
"""What the small BERT lacks and the small Llama has."""
ANNOTATED = ("word", "mention", "dependency_accuracy", "parser_accuracy")
"""Without these a file needs another corpus, as the tests of pages of treebanks say."""

FOR_ALL = {"sy_least": "1", "an_least": "1", "tp_min_count": "1"}
"""Small stores have little of anything, so that nothing is left out for being rare."""


SECTIONS = [(page, section) for page in VIEWS for section in sections(page)]
IDS = [f"{page}-{section.stem}" for page, section in SECTIONS]
NEEDS = [
    (page, section, table.name)
    for page, section in SECTIONS
    if page != "compare"  # needs several files
    for table in section.needs
]
OF_SEVERAL = {("compare", stem) for stem in ("head_changes", "heads", "pairs", "training")}
OF_GATED_AND_TURNED = {("layer_mixing", "gates"), ("positions", "shares")}
OF_ADDED = {("positions", "embeddings"), ("positions", "states")}
"""What has nothing to say of a model without position embeddings."""
a_third_of_needs = pytest.mark.parametrize(  # one frame names what is missing on every page
    ("page", "section", "table"),
    NEEDS[::3],
    ids=[f"{page}-{section.stem}-{table}" for page, section, table in NEEDS[::3]],
)


def every_section_and_one(name: str, *values: str) -> pytest.MarkDecorator:
    """Parametrize by every section, each with one of the values in turn."""
    pairs = [(*place, value) for place, value in zip(SECTIONS, cycle(values))]
    return pytest.mark.parametrize(("page", "section", name), pairs, ids=IDS)


@pytest.fixture(scope="session")
def steps_folder(store_folder, tmp_path_factory) -> Path:
    """A folder with two checkpoints of one training."""
    folder = tmp_path_factory.mktemp("steps")
    for step in (1000, 2000):
        path = copyfile(store_folder / "tiny.duckdb", folder / f"step{step}.duckdb")
        with duckdb.connect(str(path)) as store:
            store.execute(f"update stored.run set model = 'some/model@step{step}'")
    return folder


@pytest.fixture
def folder_of(request):
    """Folder with a file that has everything a page can show."""

    def folder(page: str, section: Section) -> Path:
        if page == "compare":
            return request.getfixturevalue("steps_folder")
        images = page == "relevance" and section.stem == "map"
        turned = any(not OF_LLAMA.isdisjoint(table.needs) for table in section.needs)
        special = "images" if images else "turned" if turned else "store"
        name = "treebank" if page in OF_TREEBANKS else special
        return request.getfixturevalue(f"{name}_folder")

    return folder


@pytest.fixture
def languages(request) -> tuple[str, ...]:
    """English alone in the fast tier, which exports nothing."""
    return ("en",) if request.config.getoption("fast") else ("en", "ja")


def opened_at(opened, page: str, section: Section, folder: Path, lang: str = "en") -> AppTest:
    place = {VIEWS[page]: section.stem, **FOR_ALL}
    session = opened(page, folder, lang=lang, alone=False, **place)
    assert_sound(session)
    return session


def shown(page: str, session: AppTest) -> str:
    """Name of the drawn section: the first one if the requested one is missing."""
    return session.session_state[VIEWS[page]]


@every_section_and_one("exported_in", "en", "ja")
def test_a_section_is_whole_in_both_languages_and_can_be_exported(
    page, section, exported_in, opened, folder_of, exported, languages
):
    sessions = {}
    for lang in languages:
        exported.clear()
        sessions[lang] = opened_at(opened, page, section, folder_of(page, section), lang)
        assert shown(page, sessions[lang]) == section.stem
        assert_opened(sessions[lang])
        assert charts(sessions[lang]) or frames(sessions[lang]) or bodies(sessions[lang])
        if lang == exported_in and "ja" in languages:
            assert exported
            for offer in exported.values():
                assert_exported_as_shown(offer)
    assert_asked_again(sessions["en"], folder_of(page, section))
    if "ja" in languages:
        pairs = {heading.value for heading in sessions["en"].subheader if " → " in heading.value}
        assert_translated(sessions["en"], sessions["ja"], but=pairs)


def assert_asked_again(session: AppTest, folder: Path) -> None:
    """Check that the SQL behind a section runs on the file without Mixscope."""
    queries = {code.value for code in session.code if code.language == "sql"}
    assert queries
    file = min(folder.glob("*.duckdb"))
    with duckdb.connect(str(file), read_only=True) as store:
        for query in queries:
            assert store.execute(query).description


@pytest.mark.slow
@a_third_of_needs
def test_a_statistic_that_the_file_lacks_is_named(
    page, section, table, opened, folder_of, tmp_path
):
    folder = changed_copy(folder_of(page, section), tmp_path, *lacking(table))
    session = opened_at(opened, page, section, folder)
    assert shown(page, session) == section.stem
    assert not charts(session)
    assert session.info
    if table not in ANNOTATED:
        assert table in session.info[0].value
        assert f"--statistics {table}" in session.code[0].value


@pytest.mark.slow
@every_section_and_one("kind", "gpt2", "roberta", "turned")
def test_a_section_opens_on_files_of_other_kinds(page, section, kind, opened, request):
    name = "causal_trees" if page in OF_TREEBANKS else kind
    session = opened_at(opened, page, section, request.getfixturevalue(f"{name}_folder"))
    lacks = OF_ADDED if name == "turned" else OF_GATED_AND_TURNED
    is_offered = (page, section.stem) not in {("relevance", "map"), *OF_SEVERAL, *lacks}
    assert (shown(page, session) == section.stem) == is_offered
    assert bool(session.toast) != is_offered, "whoever asks for another section is told"
    assert_opened(session)
    assert charts(session) or frames(session) or bodies(session)
    if page != "token_pairs":  # which shows tokens as the vocabulary has them
        assert "Ġ" not in bodies(session).replace('"Ġ', "")
