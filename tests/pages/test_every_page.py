"""Every page opens whatever there is to open, in both languages, alone and from the contents."""

from itertools import cycle

import pytest

from pages.ui.contents import PAGES
from tests.pages.conftest import OTHER_SCHEMA, assert_sound

pytestmark = pytest.mark.slow
NEEDS_A_FILE = [page for page in PAGES if page not in ("methods", "report")]
every_page = pytest.mark.parametrize(
    ("page", "alone", "lang"),
    [(page, *options) for page, options in zip(NEEDS_A_FILE, cycle([(True, "en"), (False, "ja")]))],
)
a_page_of_either_kind = pytest.mark.parametrize(  # every other one stops at the same place as these
    ("page", "alone", "lang"), [("overview", True, "en"), ("syntax", False, "ja")]
)


def texts(session) -> str:
    parts = [session.error, session.info, session.markdown, session.title, session.code]
    return "\n".join(element.value for part in parts for element in part)


def folded_away(session, kind: str) -> list:
    """The elements of a kind that are seen only by who opens a popover."""
    return [element for block in session.get("popover") for element in block.get(kind)]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_on_a_real_store_and_has_a_title_in_either_language(
    page, opened, store_folder
):
    titles = set()
    for lang, alone in (("en", True), ("ja", False)):
        session = opened(page, store_folder, lang=lang, alone=alone)
        assert_sound(session)
        assert not session.error
        titles.add(f"{session.title[0].value} {session.main.markdown[0].value}")
    assert len(titles) == 2


@every_page
def test_a_page_without_files_offers_the_demo(page, lang, alone, opened, tmp_path):
    session = opened(page, tmp_path, lang=lang, alone=alone)
    assert_sound(session)
    expected = {"en": "Build the demo", "ja": "デモを作成する"}
    assert [button.label for button in session.button] == [expected[lang]]
    assert not folded_away(session, "button")
    assert "precompute demo --output" in texts(session)


@a_page_of_either_kind
def test_a_file_of_another_version_is_refused(page, lang, alone, opened, other_schema_folder):
    session = opened(page, other_schema_folder, lang=lang, alone=alone)
    assert_sound(session)
    assert len(session.error) == 1
    assert not folded_away(session, "error")
    assert str(OTHER_SCHEMA) in session.error[0].value
    assert "python -m precompute run" in session.error[0].value


@a_page_of_either_kind
def test_a_damaged_file_is_named_with_its_remedy(page, lang, alone, opened, damaged_folder):
    session = opened(page, damaged_folder, lang=lang, alone=alone)
    assert_sound(session)
    assert len(session.error) == 1
    assert r"damaged\.duckdb" in session.error[0].value
    assert "python -m precompute check" in session.error[0].value
