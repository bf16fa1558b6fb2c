"""Every chart, table and grid of the page as files for a paper."""

import pytest

from pages.shared import export, figure
from tests.pages.token_pairs.conftest import SECTIONS

LIVE = {"tp_live": "live"}


@pytest.fixture
def exported(monkeypatch):
    """What the sections offer for export: frames, with their charts where there are some."""
    offered = []
    monkeypatch.setattr(
        figure, "_exports", lambda key, question, frame, chart: offered.append((frame, chart))
    )
    return offered


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize(
    ("view", "address"),
    [*((view, {}) for view in SECTIONS), ("pair", LIVE), ("pair", LIVE | {"tp_map": "change"})],
)
def test_what_a_section_shows_becomes_pictures_and_tables(view, address, lang, section, exported):
    section(view, lang=lang, **address)
    pictures = [export.svg(chart) for _, chart in exported if chart is not None]
    assert pictures or view == "browse"
    for picture in pictures:
        assert picture.startswith("<svg")
        assert "mark-" in picture
        assert "NaN" not in picture
        assert "undefined" not in picture
    assert exported
    for frame, _ in exported:
        assert len(frame)
        assert export.latex(frame, caption=view)
        assert export.csv(frame)
