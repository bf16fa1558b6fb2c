"""What is computed while a reader waits, as files for a paper."""

import pytest

from tests.pages.conftest import assert_exportable

LIVE = {"tp_live": "live"}


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize("address", [LIVE, LIVE | {"tp_map": "change"}])
def test_what_is_computed_becomes_pictures_and_tables(address, lang, section, exported):
    section("workbench", lang=lang, **address)
    assert_exportable(exported, caption="pair")
