import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.layer_mixing import layer_mixing
from analysis.measures.pair_delta import mean_interval, pair_deltas, row_shares
from analysis.scopes import EFFECTS, SCOPES
from tests.reference import pair_delta as reference

lengths = st.integers(1, 6)


@pytest.fixture(scope="module")
def maps(traced_alone) -> list[np.ndarray]:
    """Norms of every layer of every sequence."""
    return [layer_mixing(layer).maps.numpy() for trace in traced_alone for layer in trace.layers]


def _norms(length: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).gamma(1.0, size=(len(SCOPES), length, length)) + 1e-9


def test_deltas_follow_the_paper_pair_by_pair(maps):
    for norms in maps:
        found = pair_deltas(norms)
        for place, (before, after) in enumerate(EFFECTS.values()):
            scopes = (norms[SCOPES.index(each)].tolist() for each in (before, after))
            np.testing.assert_allclose(found[place], reference.deltas(*scopes), atol=1e-14)


@given(lengths, st.integers(0, 999))
def test_shares_of_every_row_add_up_to_1(length, seed):
    np.testing.assert_allclose(row_shares(_norms(length, seed)).sum(axis=-1), 1)


@given(lengths, st.integers(0, 999))
def test_what_one_token_gains_others_lose(length, seed):
    found = pair_deltas(_norms(length, seed))
    assert (np.abs(found) <= 1).all()
    np.testing.assert_allclose(found.sum(axis=-1), 0, atol=1e-12)


def test_a_scope_of_another_scale_changes_nothing():
    norms = _norms(5, 0)
    scales = np.random.default_rng(1).gamma(1.0, size=(len(SCOPES), 5, 1)) + 0.1
    np.testing.assert_allclose(pair_deltas(norms * scales), pair_deltas(norms), atol=1e-14)


def test_modules_that_only_scale_have_no_effect():
    norms = np.broadcast_to(_norms(4, 2)[:1], (len(SCOPES), 4, 4)) * np.arange(1, 8)[:, None, None]
    np.testing.assert_allclose(pair_deltas(norms), 0, atol=1e-15)


def test_a_share_that_is_doubled_by_one_module_shows_in_that_effect_alone():
    norms = np.ones((len(SCOPES), 1, 4))
    norms[SCOPES.index("attn_res_ln_ff") :, 0, 0] = 3
    res_ln, ff, ff_res, ff_ln = pair_deltas(norms)
    assert ff[0].tolist() == pytest.approx([1 / 4, -1 / 12, -1 / 12, -1 / 12])
    assert not np.any([res_ln, ff_res, ff_ln])


@pytest.mark.parametrize("n_sequences", [2, 3, 4, 11, 200])
def test_intervals_follow_students_distribution(n_sequences):
    row = np.array([0.25]), np.array([1.5]), np.array([n_sequences])
    low, high = mean_interval(*row)
    assert (low[0], high[0]) == pytest.approx(reference.mean_interval(0.25, 1.5, n_sequences))


def test_two_sequences_leave_a_wide_interval_and_one_leaves_none():
    mean, std = np.array([1.0, 1.0]), np.array([np.sqrt(2), 1.0])
    low, high = mean_interval(mean, std, np.array([2, 1]))
    assert high[0] - 1 == pytest.approx(12.7062, abs=1e-4)
    assert 1 - low[0] == pytest.approx(12.7062, abs=1e-4)
    assert np.isnan([low[1], high[1]]).all()
