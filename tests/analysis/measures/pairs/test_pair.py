from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.pairs.pair import pointwise_mutual_information
from tests.analysis.measures.pairs.counted import pmi_of_pairs
from tests.reference.pairs import pair as reference

sequences = st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=6), min_size=1, max_size=4)


@given(sequences)
def test_pmi_follows_its_definition_pair_by_pair(corpus):
    expected = reference.pmi(corpus, causal=False)
    counts = Counter(pair for ids in corpus for pair in permutations(ids, 2))
    pairs = np.array(list(counts))
    n = np.array(list(counts.values()))
    of_source, of_target = (np.bincount(side, weights=n).astype(int)[side] for side in pairs.T)
    pmi = pointwise_mutual_information(n, of_source, of_target, int(n.sum()))
    assert pmi.tolist() == pytest.approx([expected[pair] for pair in counts], abs=1e-12)
    np.testing.assert_array_equal(pmi_of_pairs(n, pairs[:, 0], pairs[:, 1]), pmi)


def test_counts_of_a_large_corpus_do_not_overflow():
    n = np.array([2_000_000_000])
    assert pointwise_mutual_information(n, n, n, int(n[0])).tolist() == [0]
