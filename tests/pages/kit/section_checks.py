"""Checks of every section of every page."""

from collections.abc import Set
from importlib import import_module

from streamlit.testing.v1 import AppTest

from analysis.needs import Need
from pages.kit.section import Section

TABLE = "|"  # of a contract, which may speak of NaN


def sections(page: str) -> list[Section]:
    """The sections of a page, in their order."""
    return list(import_module(f"pages.{page}.page").PAGE.sections)


def stems(page: str) -> list[str]:
    """Names of a page's sections in the address."""
    return [section.name for section in sections(page)]


def home_of(page: str, section: Section) -> str:
    """Name of a file that has everything a section can show."""
    if page == "compare":
        return "steps"
    turned = {Need.KERNELS, Need.TURNED_POSITIONS}
    if any(not turned.isdisjoint(table.needs) for table in section.needs):
        return "turned"
    of_images = any(Need.IMAGES in table.needs for table in section.needs)
    return "images" if of_images or (page, section.name) == ("relevance", "map") else "treebank"


def assert_opened(session: AppTest) -> None:
    """Check that a page has a title, content and method, and shows no NaN."""
    assert session.header
    assert not session.error
    assert session.expander, "how it is measured is not told"
    texts = [text.value for text in session.markdown if not text.value.startswith(TABLE)]
    assert not {"nan", "+nan"} & set(" ".join(texts).lower().split())


def assert_translated(english: AppTest, japanese: AppTest, *, but: Set[str] = frozenset()) -> None:
    """Check that no headline is the same in both languages, except names."""
    for part in ("header", "subheader"):
        headlines = [
            {heading.value for heading in getattr(session, part)} for session in (english, japanese)
        ]
        assert headlines[0] & headlines[1] <= but
