"""Changes of heads, pairs and numbers from one file to another; numbers are those of the files."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind_from_stats, wilcoxon

from analysis.comparison.account import account
from analysis.comparison.differences import corrected, differences, own_numbers
from analysis.comparison.heads import (
    divergences,
    habit_of_heads,
    head_differences,
    held_habits,
    matched_heads,
)
from analysis.comparison.numbers import ALL_LAYERS, NUMBERS, by_unit, unit_values
from analysis.comparison.pair_changes import changed_pairs, pairs_with_error
from analysis.errors import UnknownName
from analysis.foreign_file import attach
from tests.shared_store import shared_store

WHOLE, WEIGHTS = "attn_res_ln_ff_res_ln", "attn_w"
STORED = {
    "ratio_whole": f"from mixing_ratio where scope = '{WHOLE}' and token_type = 'all'",
    "ratio_weights": f"from mixing_ratio where scope = '{WEIGHTS}' and token_type = 'all'",
    "similarity_whole": "select layer, spearman as mean from scope_similarity "
    f"where scope_a = '{WEIGHTS}' and scope_b = '{WHOLE}'",
    "cls_weight": "from head_pattern_interval where head is null and quantity = 'cls'",
    "previous": "from head_pattern_interval where head is null and quantity = 'previous'",
    "sink_rate": "from sink_rate where place = 'first' and quantity = 'attention' "
    "and abs(threshold - 0.3) < 1e-6",
    "sink_weight": "from sink where head is null and place = 'first' and quantity = 'attention'",
    "sink_norm": "from sink where head is null and place = 'first' and quantity = 'norm_share'",
    "offset_agreement": "select layer, agreement as mean from offset_agreement "
    "where counting = 'sum' and min_dependence = 0",
}
"""By number where the file has its mean in every layer."""


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[duckdb.DuckDBPyConnection]:
    path = shared_store(tmp_path_factory, annotated=True)
    with duckdb.connect(":memory:") as opened:
        attach(opened, str(path.resolve()))
        yield opened


def test_means_by_layer_are_those_that_the_file_holds(store):
    means = own_numbers(unit_values(store), seed=0).set_index(["number", "layer"])["mean"]
    for number, query in STORED.items():
        stored = store.execute(f"select layer, mean from ({query}) where layer is not null").df()
        assert len(stored) == 2
        for row in stored.itertuples():
            assert means[number, row.layer] == pytest.approx(row.mean, abs=1e-6), number


def test_the_number_of_a_file_is_the_mean_over_its_sequences_and_their_layers(store):
    rows = unit_values(store)
    of_decoders = {"first_weight", "first_norm"}
    assert set(rows["number"]) == set(NUMBERS) - of_decoders
    ratios = rows[rows["number"] == "ratio_whole"]
    means = own_numbers(rows, seed=0).set_index(["number", "layer"])
    slow = np.mean([part["value"].mean() for _, part in ratios.groupby("unit")])
    assert means.loc[("ratio_whole", ALL_LAYERS), "mean"] == pytest.approx(slow)
    assert by_unit(ratios).shape == (ratios["unit"].nunique(), 1 + ratios["layer"].nunique())


def test_shares_add_up_and_differences_stand_in_the_order_of_the_numbers(store):
    side, key = (account(store), unit_values(store)), ["number", "layer"]
    own = own_numbers(side[1], seed=0)
    assert differences(side, side, seed=0)[key].equals(own[key])
    shares = own.set_index(["layer", "number"])["mean"]
    for weighing in ("weight", "norm"):
        parts = [shares[ALL_LAYERS, f"{name}_{weighing}"] for name in ("cls", "sep", "rest")]
        assert sum(parts) == pytest.approx(1)


def test_correlation_is_that_of_each_head_and_text(store):
    frame = store.execute(
        "select head, attention_received, value_norm from head_token "
        "where seq = 1 and layer = 2 and token_type in ('other', 'comma_period')"
    ).df()
    slow = [
        np.corrcoef(np.log(part["attention_received"]), np.log(part["value_norm"]))[0, 1]
        for _, part in frame.groupby("head")
    ]
    rows = unit_values(store).set_index(["number", "unit", "layer"])["value"]
    assert rows["correlation", 1, 2] == pytest.approx(np.mean(slow), rel=1e-4)


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


def test_pairs_are_those_of_the_file_with_an_interval(store):
    pairs = pairs_with_error(store, layer=2, effect="ff", min_count=4)
    expected = store.execute(
        "select count(*) from pair_delta_interval "
        "where layer = 2 and effect = 'ff' and n >= 4 and degrees >= 1.1"
    ).fetchall()
    with pytest.raises(UnknownName, match="ff; drop"):
        pairs_with_error(store, layer=2, effect="ff; drop", min_count=4)
    assert len(pairs) == expected[0][0] > 0
    assert (pairs["n"] >= 4).all()


HEADS, SIZE = 12, 7


@pytest.fixture
def profiles() -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.full(SIZE, 0.5), size=HEADS)


def slow_divergence(one: np.ndarray, other: np.ndarray) -> float:
    total, middle = 0.0, (one + other) / 2
    for side in (one, other):
        for share, mean in zip(side, middle, strict=True):
            total += share * np.log(share / mean) / 2 if share else 0.0
    return total


def test_divergences_are_those_of_the_slow_twin(profiles):
    distances = divergences(profiles, profiles[::-1])
    for row in range(HEADS):
        for column in range(HEADS):
            slow = slow_divergence(profiles[row], profiles[::-1][column])
            assert distances[row, column] == pytest.approx(slow, abs=1e-12)


def test_a_planted_permutation_is_found(profiles):
    order = np.random.default_rng(1).permutation(HEADS)
    noise = np.random.default_rng(2).dirichlet(np.full(SIZE, 5.0), size=HEADS)
    shuffled = np.empty_like(profiles)
    shuffled[order] = 0.98 * profiles + 0.02 * noise
    distances = divergences(profiles, shuffled)
    matching = matched_heads(distances)
    assert (matching.match == order).all()
    assert matching.matched == pytest.approx(distances[np.arange(HEADS), order].mean())
    assert matching.same == pytest.approx(np.trace(distances) / HEADS)
    assert matching.chance == pytest.approx(distances.mean())
    assert matching.matched < matching.same
