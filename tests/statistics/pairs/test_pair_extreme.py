"""The largest changes that lists keep, against all sorted slowly."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analysis.statistics.pairs import changes

PAIRS = st.lists(st.tuples(st.integers(-2, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1)


@given(PAIRS, st.integers(1, 5))
def test_the_largest_are_kept_and_equal_ones_stand_by_their_tokens(pairs, kept):
    value, source, target = np.array(pairs).T
    with patch.object(changes, "KEPT", kept):
        found = changes._largest(value, target, source).tolist()
    grown = [place for place, (size, *_) in enumerate(pairs) if size > 0]
    assert found == sorted(grown, key=lambda at: (-value[at], source[at], target[at]))[:kept]
