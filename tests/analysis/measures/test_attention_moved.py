"""Attention that goes elsewhere, reckoned by hand."""

import numpy as np

from analysis.measures.heads.attention_moved import attention_moved


def test_half_of_all_differences_counts_with_all_that_goes_to_tokens_of_one_run_alone():
    before = np.array([[[0.5, 0.5], [0.2, 0.8]]])
    after = np.array([[[0.1, 0.6, 0.3], [0.0, 1.0, 0.0], [0.2, 0.4, 0.4]]])
    same = [(0, 0), (1, 2)]
    first, second = (0.4 + 0.2 + 0.6) / 2, (0.0 + 0.4 + 0.4) / 2
    np.testing.assert_allclose(attention_moved(before, after, same), [(first + second) / 2])
    np.testing.assert_array_equal(attention_moved(before, before, [(0, 0), (1, 1)]), [0.0])
    assert np.isnan(attention_moved(before, after, []))
