"""A file that lacks a statistic, or in which nothing is listed, shows nothing empty."""

from pathlib import Path

import pytest

from pages.token_pairs.lists import DIRECTIONS
from tests.pages.conftest import bodies, captions, charts, frames, sentences
from tests.pages.kit.copies import changed_copy
from tests.pages.kit.section_checks import stems

WITHOUT_LISTS = "delete from stored.pair_extreme"  # lists are then made from all pairs


@pytest.mark.parametrize("view", ["tables", "workbench"])
def test_a_number_that_no_pair_reaches_is_told(view, section):
    session = section(view, tp_least="9999")
    assert session.info
    assert not charts(session)
    assert not frames(session)
    assert "tp-grid" not in bodies(session)


def assert_no_nan(session) -> None:
    assert "nan" not in sentences(session).lower().split()
    assert "nan" not in bodies(session).lower()


def test_pairs_of_one_sequence_each_have_no_interval_and_are_not_clear(changed, section):
    folder = changed(
        "update stored.pair_delta set n_sequences = 1, degrees = null",
        "update stored.pair_extreme set n_sequences = 1, degrees = null",
        "update stored.pair set n_sequences = 1",
        "update stored.pair_pmi_correlation set low = null, high = null",
    )
    sessions = {view: section(view, folder) for view in stems("token_pairs")}
    for session in sessions.values():
        assert_no_nan(session)
    assert "no interval" in captions(sessions["workbench"])
    unclear = (f" {direction} pairs listed, none is clear of 0" for direction in DIRECTIONS)
    assert all(sentence in sentences(sessions["tables"]) for sentence in unclear)
    assert "too few words for an interval" in sentences(sessions["pmi"])
    assert len(charts(sessions["pmi"])) == 3
    for view in ("tables", "workbench"):
        session = section(view, folder, tp_clear="only")
        assert "is clear of 0. Choose" in session.info[0].value
        assert not charts(session)


@pytest.fixture(scope="module")
def one_way(store_folder, tmp_path_factory) -> Path:
    """Folder of a file with extreme modules and without correlations.

    One module amplifies every pair, another attenuates all, and a third changes none.
    """
    return changed_copy(
        store_folder,
        tmp_path_factory.mktemp("one_way"),
        "update stored.pair_delta set mean_ff_res = abs(mean_ff_res) + 1e-9, "
        "mean_res_ln = -(abs(mean_res_ln) + 1e-9), mean_ff = 0, std_ff = if(n > 1, 0, null)",
        "update stored.pair_pmi_correlation set spearman = null where min_count = 2",
        WITHOUT_LISTS,
    )


@pytest.mark.parametrize("effect", ["ff_res", "res_ln"])
def test_a_step_that_changes_everything_one_way_is_told(effect, one_way, section):
    session = section("tables", one_way, tp_effect=effect)
    assert_no_nan(session)
    assert "keeps of itself" in session.info[0].value
    assert 'class="tp-none"' not in bodies(session)


def test_a_list_of_a_step_that_changes_everything_one_way_tells_it(one_way, section):
    session = section("workbench", one_way, tp_effect="ff_res")
    assert_no_nan(session)
    text = sentences(session)
    assert "and 0 attenuated" in text
    assert section("workbench", one_way, tp_effect="ff_res", tp_direction="attenuated").info


def test_a_step_that_changes_nothing_lists_nothing(one_way, section):
    assert section("tables", one_way).info
    assert section("workbench", one_way, tp_direction="amplified").info


def test_correlations_that_nothing_is_known_of_are_told(one_way, section):
    session = section("pmi", one_way)
    assert session.info
    assert not charts(session)
