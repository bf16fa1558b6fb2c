"""Right and wrong antecedents."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.probing.coreference_accuracy import has_antecedent, is_right
from tests.reference.probing import coreference_accuracy as twin

MENTIONS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(-1, 9)), min_size=1, max_size=8
)


@given(mentions=MENTIONS)
def test_right_is_what_the_twin_calls_right(mentions):
    heads, clusters, picked = map(list, zip(*mentions, strict=True))
    places, things = np.array(heads), np.array(clusters)
    right = is_right(np.array([picked]), places, things)
    assert right[0].tolist() == twin.right(picked, heads, clusters)
    something = [bool(twin.antecedents(heads, clusters, m)) for m in range(len(heads))]
    assert has_antecedent(places, things).tolist() == something
    assert not right[0][~has_antecedent(places, things)].any()
