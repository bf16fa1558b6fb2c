"""The bound that pairs are ranked by, against the quantile of another library."""

import duckdb
import numpy as np
import pandas as pd

from analysis.statistics.pairs import pair_bound
from tests.reference.pairs.pair_ranking import nearer_bound


def test_the_bound_of_a_query_is_that_of_the_interval():
    """Degrees of freedom are arbitrary; pairs whose interval holds 0 have no bound."""
    degrees = np.concatenate(
        [[0.5, 1.09, 1.1], np.linspace(1.1, 3, 500), np.geomspace(3, 1e6, 500)]
    )
    pairs = pd.DataFrame({"degrees": degrees, "error": 0.01}).assign(mean=-0.024)
    with duckdb.connect() as store:
        store.register("pairs", pairs)
        bounds = store.execute(f"select {pair_bound.NEAR} as near from pairs").df()["near"]
    expected = [nearer_bound(-0.024, 0.01, degree) for degree in degrees]
    np.testing.assert_allclose(bounds, np.array(expected, dtype=float), rtol=0, atol=1e-11)
    assert 0 < bounds.isna().sum() < len(bounds)
