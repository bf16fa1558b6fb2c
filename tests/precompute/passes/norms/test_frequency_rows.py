"""Correlations of more tokens than fit into memory are those of tokens that do."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.scopes import POST_NORM
from analysis.statistics.fit import FitContext
from analysis.statistics.norms.frequency_rows import frequency_rows

TOKENS = 30_000


def _tokens() -> pd.DataFrame:
    """Frequent words with more of a quantity, some of them special, some of them none of it."""
    drawn = np.random.default_rng(0)
    ids = np.minimum(drawn.zipf(1.3, size=TOKENS), 500)
    value = np.where(drawn.random(TOKENS) < 0.1, 0, drawn.lognormal(size=TOKENS) / ids**0.2)
    texts = np.arange(TOKENS) // 100
    return pd.DataFrame(
        {
            "seq": texts,
            "block": texts // 5,
            "token_id": ids,
            "is_special": ids < 2,
            "value": value,
            "flat": 1.0,
        }
    )


@pytest.fixture(scope="module")
def both() -> list[pd.DataFrame]:
    """Found in memory, and by sums in the store."""
    given = FitContext(seed=0, order=POST_NORM, frequency_ranks={"file": np.arange(600) // 3 + 1})
    with duckdb.connect() as store:
        store.execute("set threads = 1")
        store.register("all_tokens", _tokens())
        store.register("blocks", pd.DataFrame({"seq": range(TOKENS // 100)}))
        return [
            frequency_rows(
                store, "from all_tokens", ["value", "flat"], given, name="of", exact=exact
            )
            for exact in (TOKENS, TOKENS - 1)
        ]


def test_both_ways_find_the_same_but_for_ties_of_close_values(both):
    one, other = both
    pd.testing.assert_frame_equal(one, other, rtol=0, atol=1e-4)
    assert not both[0].equals(both[1])
    of_value = both[0][both[0]["of"] == "value"]
    assert of_value["spearman"].abs().max() > 0.25
    assert of_value["source"].tolist() == ["corpus", "corpus", "file", "file"]


def test_what_is_the_same_of_all_tokens_has_no_correlation(both):
    for frame in both:
        assert frame.loc[frame["of"] == "flat", "spearman"].isna().all()
