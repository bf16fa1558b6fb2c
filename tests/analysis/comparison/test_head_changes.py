"""Changes of heads by their texts; the means of a head are those of its file."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pytest
from scipy.stats import wilcoxon

from analysis.comparison.account import account
from analysis.comparison.heads import habit_of_heads, head_differences, held_habits
from analysis.errors import UnknownName
from analysis.foreign_file import attach
from tests.shared_store import shared_store


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[duckdb.DuckDBPyConnection]:
    path = shared_store(tmp_path_factory, annotated=True)
    with duckdb.connect(":memory:") as opened:
        attach(opened, str(path.resolve()))
        yield opened


@pytest.mark.parametrize("weighing", ["weight", "norm"])
def test_means_are_those_that_the_file_holds(weighing, store):
    means = "from head_pattern_weighing where head is not null and weighing = ?"
    rows = store.execute(means, [weighing]).df()
    stored = rows.set_index(["quantity", "layer", "head"]).sort_index()
    known = account(store)
    habits = held_habits(store)
    assert set(habits) <= set(rows["quantity"])
    for habit in habits:
        values = habit_of_heads(store, habit=habit, weighing=weighing)
        found = head_differences((known, values), (known, values), seed=0)
        means = found.set_index(["layer", "head"])["one"]
        expected = stored["mean"][habit].reindex(means.index)
        assert means.to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-6), habit
        assert not found["difference"].any()


def test_a_head_is_compared_over_the_texts_in_which_both_files_have_it(store):
    known = account(store)
    one = habit_of_heads(store, habit="entropy", weighing="weight")
    noise = np.random.default_rng(0).normal(0.1, 0.1, one.shape)
    other = one + noise
    other.iloc[0, 0] = np.nan
    found = head_differences((known, one), (known, other), seed=0)
    assert found["n"].tolist() == [len(one) - 1] + [len(one)] * (one.shape[1] - 1)
    assert found["difference"].to_numpy() == pytest.approx((other - one).mean().to_numpy())
    assert (found["other"] - found["one"]).to_numpy() == pytest.approx(
        found["difference"].to_numpy()
    )
    expected: Any = wilcoxon(noise[:, 1])
    assert found["p"].iloc[1] == pytest.approx(expected.pvalue)


def test_files_of_other_heads_and_habits_that_heads_do_not_have_are_refused(store):
    known = account(store)
    values = habit_of_heads(store, habit="self", weighing="weight")
    untrained = replace(known, facts=known.facts | {"random_weights": "1"})
    with pytest.raises(ValueError, match="random_weights"):
        head_differences((known, values), (untrained, values), seed=0)
    with pytest.raises(UnknownName, match="Did you mean 'previous'"):
        habit_of_heads(store, habit="previus", weighing="weight")
