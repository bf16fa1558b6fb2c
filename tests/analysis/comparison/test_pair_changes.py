"""Pairs of two files: their ranks, and the interval of their difference as Welch has it."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind_from_stats

from analysis.comparison.differences import corrected
from analysis.comparison.pair_changes import changed_pairs, pairs_with_error
from analysis.errors import UnknownName
from analysis.foreign_file import attach
from tests.shared_store import shared_store

N = 12


def pairs_of(means, errors) -> pd.DataFrame:
    ids = range(len(means))
    names = [f"w{word}" for word in ids]
    return pd.DataFrame(
        {
            "source": ids,
            "target": 0,
            "source_token": names,
            "target_token": "x",
            "n": N,
            "mean": np.array(means, dtype=float),
            "error": np.array(errors, dtype=float),
            "degrees": float(N - 1),
        }
    )


def test_ranks_and_intervals_are_those_of_the_slow_twin():
    one, other = pairs_of([3, 2, 1, 0], [0.5] * 4), pairs_of([0, 2, 1, 9], [0.2, 0.5, 0.5, 3])
    changes = changed_pairs(one, other).set_index("source")
    assert changes["moved"].to_dict() == {0: -3, 1: 0, 2: 0, 3: 3}
    assert set(changes.index[:2]) == {0, 3}
    p = []
    for pair, row in zip(changes.index.tolist(), changes.to_dict("records"), strict=True):
        spread = [side["error"][pair] * N**0.5 for side in (one, other)]
        test = ttest_ind_from_stats(
            other["mean"][pair], spread[1], N, one["mean"][pair], spread[0], N, equal_var=False
        )
        p.append(test.pvalue)
        is_clear = row["difference_low"] > 0 or row["difference_high"] < 0
        assert is_clear == (test.pvalue < 0.05)
        reach = row["difference_high"] - row["difference"]
        assert row["difference"] - row["difference_low"] == pytest.approx(reach)
        error = (one["error"][pair] ** 2 + other["error"][pair] ** 2) ** 0.5
        assert row["difference"] / error == pytest.approx(test.statistic)
    assert list(changes["q"]) == pytest.approx(list(corrected(np.array(p))))
    assert changes["is_clear"].to_dict() == {0: True, 1: True, 2: False, 3: True}


def test_a_pair_of_one_file_alone_is_left_out():
    changes = changed_pairs(pairs_of([1, 2], [1, 1]), pairs_of([1], [1]))
    assert list(changes["source_token"]) == ["w0"]


def test_pairs_are_those_of_the_file_with_an_interval(tmp_path_factory):
    path = shared_store(tmp_path_factory, annotated=True)
    with duckdb.connect(":memory:") as store:
        attach(store, str(path.resolve()))
        pairs = pairs_with_error(store, layer=2, effect="ff", min_count=4)
        expected = store.execute(
            "select count(*) from pair_delta_interval "
            "where layer = 2 and effect = 'ff' and n >= 4 and degrees >= 1.1"
        ).fetchall()
        with pytest.raises(UnknownName, match="ff; drop"):
            pairs_with_error(store, layer=2, effect="ff; drop", min_count=4)
    assert len(pairs) == expected[0][0] > 0
    assert (pairs["n"] >= 4).all()
