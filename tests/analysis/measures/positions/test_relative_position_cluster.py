import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.measures.positions.profile_clusters import nearest_centres
from tests.reference.positions import relative_position_cluster as reference

_QUARTERS = st.integers(0, 8).map(lambda n: n / 4)


@given(
    arrays(np.float64, (6, 4), elements=_QUARTERS), arrays(np.float64, (3, 4), elements=_QUARTERS)
)
def test_the_nearest_centre_is_that_of_the_slow_twin_ties_included(profiles, centres):
    expected = reference.nearest_centres(profiles.tolist(), centres.tolist())
    assert nearest_centres(profiles, centres).tolist() == expected
