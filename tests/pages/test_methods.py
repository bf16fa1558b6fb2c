"""Methods explains every statistic that can be computed, and needs no file to do so."""

import pytest

from analysis.sources import PAPERS
from pages.shared.method_formulas import METHODS
from precompute.passes import PASSES
from tests.pages.conftest import assert_sound


def test_every_statistic_is_explained():
    explained = {table.name for method in METHODS.values() for table in method.tables}
    assert explained == {each.TABLE.name for each in PASSES}


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_methods_opens_without_any_file(lang, opened, tmp_path):
    session = opened("methods", tmp_path, lang=lang)
    assert_sound(session)
    assert len(session.subheader) == len(METHODS)
    assert not session.error


def test_every_paper_and_every_law_is_there(opened, tmp_path):
    session = opened("methods", tmp_path)
    told = "\n".join(each.value for each in session.markdown)
    laws = "\n".join(each.value for each in session.caption)
    assert all(paper.title in told for paper in PAPERS.values())
    tables = (table for method in METHODS.values() for table in method.tables)
    assert all(law in laws for table in tables for law in table.laws)
