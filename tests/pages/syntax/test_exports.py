"""Every chart and table of the page as files for a paper."""

import pytest

from tests.pages.conftest import assert_exportable
from tests.pages.syntax.conftest import SECTIONS


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize("view", SECTIONS)
def test_what_a_section_shows_becomes_pictures_and_tables(view, lang, section, exported):
    section(view, lang=lang, sy_least="1")
    ours = {key: each for key, each in exported.items() if key.startswith("sy_")}
    assert_exportable(ours, caption=view)
