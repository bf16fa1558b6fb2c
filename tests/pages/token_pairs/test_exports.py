"""Every chart, table and grid of the page as files for a paper."""

import pytest

from tests.pages.conftest import assert_exportable
from tests.pages.token_pairs.conftest import SECTIONS

LIVE = {"tp_live": "live"}


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize(
    ("view", "address"),
    [*((view, {}) for view in SECTIONS), ("pair", LIVE), ("pair", LIVE | {"tp_map": "change"})],
)
def test_what_a_section_shows_becomes_pictures_and_tables(view, address, lang, section, exported):
    section(view, lang=lang, **address)
    assert_exportable(exported, caption=view)
    assert all(chart is None for _, chart in exported.values()) == (view == "browse")
