"""A file that lacks a statistic, or in which nothing is listed, shows nothing empty."""

import pytest

from tests.pages.conftest import bodies, charts, frames, sentences
from tests.pages.token_pairs.conftest import SECTIONS

WITHOUT_LISTS = "delete from stored.pair_extreme"  # lists are then made from all pairs


@pytest.mark.parametrize("view", ["tables", "workbench"])
def test_a_number_that_no_pair_reaches_is_told(view, section):
    session = section(view, tp_least="9999")
    assert session.info
    assert not charts(session)
    assert not frames(session)
    assert "tp-grid" not in bodies(session)


@pytest.mark.parametrize("view", SECTIONS)
def test_pairs_of_one_sequence_each_have_no_interval(view, changed, section):
    folder = changed(
        "update stored.pair_delta set n_sequences = 1, degrees = null",
        "update stored.pair set n_sequences = 1",
        WITHOUT_LISTS,
    )
    session = section(view, folder)
    assert "nan" not in sentences(session).lower().split()
    assert "nan" not in bodies(session).lower()
    if view == "workbench":
        assert any("no interval" in each.value for each in session.caption)


@pytest.mark.parametrize("way", ["amplified", "attenuated"])
@pytest.mark.parametrize("view", ["tables", "workbench"])
def test_a_step_that_changes_everything_one_way_is_told(way, view, changed, section):
    sign = "" if way == "amplified" else "-"
    change = f"update stored.pair_delta set mean_ff_res = {sign}(abs(mean_ff_res) + 1e-9)"
    folder = changed(change, WITHOUT_LISTS)
    session = section(view, folder, tp_effect="ff_res")
    assert "nan" not in sentences(session).lower().split()
    if view == "tables":
        assert "keeps of itself" in session.info[0].value
        assert 'class="tp-none"' not in bodies(session)
    else:
        other = {"amplified": "attenuated", "attenuated": "amplified"}[way]
        assert f", 0 {other}" in sentences(session) or f"(0 {other}" in sentences(session)
        assert section(view, folder, tp_effect="ff_res", tp_direction=other).info


def test_a_step_that_changes_nothing_lists_nothing(changed, section):
    change = "update stored.pair_delta set mean_ff = 0, std_ff = if(n > 1, 0, null)"
    folder = changed(change, WITHOUT_LISTS)
    assert section("tables", folder).info
    assert section("workbench", folder, tp_direction="amplified").info


def test_correlations_that_nothing_is_known_of_are_told(changed, section):
    session = section(
        "pmi", changed("update stored.pair_pmi_correlation set spearman = null where min_count = 2")
    )
    assert session.info
    assert not charts(session)
