"""Every chart and table of the page as files for a paper."""

import pytest

from pages.shared import export
from tests.pages.head_map.conftest import SECTIONS


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize("view", SECTIONS)
def test_what_a_section_shows_becomes_pictures_and_tables(view, lang, section, exported):
    section(view, lang=lang)
    pictures = [export.svg(chart) for _, chart in exported.values() if chart is not None]
    assert pictures
    for picture in pictures:
        assert picture.startswith("<svg")
        assert "mark-" in picture
        assert "NaN" not in picture
        assert "undefined" not in picture
    for frame, _ in exported.values():
        assert len(frame)
        assert export.latex(frame, caption=view)
