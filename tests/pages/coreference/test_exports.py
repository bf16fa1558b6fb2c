"""Every chart and table of the page as files for a paper."""

import pytest

from tests.pages.conftest import assert_exportable
from tests.pages.coreference.conftest import SECTIONS


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize("view", SECTIONS)
def test_what_a_section_shows_becomes_pictures_and_tables(view, lang, section, exported):
    section(view, lang=lang)
    assert_exportable(exported, caption=view)
