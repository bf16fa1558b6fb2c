"""Every page opens, alone and from the contents, and stops with a remedy where it has no file."""

import pytest

from pages.ui.choices.links import VIEWS
from pages.ui.contents import PAGES
from tests.pages.conftest import OTHER_SCHEMA, assert_sound
from tests.pages.kit.openings import ROOT

pytestmark = pytest.mark.slow
WITHOUT_SECTIONS = [page for page in PAGES if page not in VIEWS]
of_either_kind = pytest.mark.parametrize(  # every other page stops at the same place as these
    ("page", "alone", "lang"), [("overview", True, "en"), ("syntax", False, "ja")]
)


def folded_away(session, kind: str) -> list:
    """The elements of a kind that are seen only by who opens a popover."""
    return [element for block in session.get("popover") for element in block.get(kind)]


@pytest.mark.parametrize("page", [*WITHOUT_SECTIONS, "head_map"])
def test_a_page_opens_alone_and_from_the_contents_in_either_language(page, opened, store_folder):
    titles = set()
    for lang, alone in (("en", True), ("ja", False)):
        session = opened(page, store_folder, lang=lang, alone=alone)
        assert_sound(session)
        assert not session.error
        titles.add(f"{session.title[0].value} {session.main.markdown[0].value}")
    assert len(titles) == 2


def test_pages_draw_nothing_when_they_are_imported(in_session):
    paths = [str(ROOT / "pages" / page / "page.py") for page in VIEWS]
    session = in_session(f"import runpy\nfor path in {paths}: runpy.run_path(path)")
    assert_sound(session)
    assert not len(session.main)


@of_either_kind
def test_a_page_without_files_offers_the_demo(page, lang, alone, opened, tmp_path):
    session = opened(page, tmp_path, lang=lang, alone=alone)
    assert_sound(session)
    expected = {"en": "Build the demo", "ja": "デモを作成する"}
    assert [button.label for button in session.button] == [expected[lang]]
    assert not folded_away(session, "button")
    assert any("precompute demo --output" in code.value for code in session.code)


@of_either_kind
def test_a_file_that_cannot_be_opened_is_named_with_its_remedy(
    page, lang, alone, opened, other_schema_folder, damaged_folder
):
    for folder, *words in (
        (other_schema_folder, str(OTHER_SCHEMA), "python -m precompute run"),
        (damaged_folder, r"damaged\.duckdb", "python -m precompute check"),
    ):
        session = opened(page, folder, lang=lang, alone=alone)
        assert_sound(session)
        [error] = session.error
        assert not folded_away(session, "error")
        assert all(word in error.value for word in words)
