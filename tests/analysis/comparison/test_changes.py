"""Changes of heads, pairs and numbers from one file to another; numbers are those of the files."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import false_discovery_control, ttest_ind_from_stats, wilcoxon

from analysis.comparison.account import (
    KINDS,
    MASKED,
    Account,
    account,
    reasons,
    shared_sequences,
    training_step,
)
from analysis.comparison.differences import (
    corrected,
    means,
    own_numbers,
    paired_differences,
    unpaired_differences,
)
from analysis.comparison.heads import (
    divergences,
    habit_of_heads,
    head_differences,
    held_habits,
    matched_heads,
)
from analysis.comparison.numbers import unit_values
from analysis.comparison.pair_changes import changed_pairs, pairs_with_error
from analysis.errors import UnknownName
from analysis.foreign_file import attach
from analysis.measures.bootstrap import LEAST_UNITS, redraws
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


def test_means_are_those_that_the_file_holds(store):
    weighing = "norm"
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
    rows = pd.DataFrame({"source": ids, "mean": means, "error": errors}, dtype=float)
    rows["source_token"] = [f"w{word}" for word in ids]
    return rows.assign(target=0, target_token="x", n=N, degrees=float(N - 1))


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


def test_a_planted_permutation_is_found():
    profiles = np.random.default_rng(0).dirichlet(np.full(7, 0.5), size=12)
    order = np.random.default_rng(1).permutation(12)
    noise = np.random.default_rng(2).dirichlet(np.full(7, 5.0), size=12)
    shuffled = np.empty_like(profiles)
    shuffled[order] = 0.98 * profiles + 0.02 * noise
    distances = divergences(profiles, shuffled)
    assert distances[3, 5] == pytest.approx(jensenshannon(profiles[3], shuffled[5]) ** 2)
    matching = matched_heads(distances)
    assert (matching.match == order).all()
    assert matching.matched == pytest.approx(distances[np.arange(12), order].mean())
    assert matching.same == pytest.approx(np.trace(distances) / 12)
    assert matching.chance == pytest.approx(distances.mean())
    assert matching.matched < matching.same


def drawn(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def test_paired_differences_are_of_the_sequences_that_have_both_values():
    one, other = drawn(0, (14, 3)), drawn(1, (14, 3)) + 0.5
    one[3], other[7] = np.nan, np.nan
    found = paired_differences(one, other, seed=5)
    assert found.n.tolist() == found.n_other.tolist() == [12] * 3
    for cell, change in enumerate((other - one).T):
        resampled = [
            np.nanmean(np.repeat(change, weights.astype(int)))
            for weights in redraws(np.arange(14), seed=5).weights
        ]
        expected: Any = wilcoxon(change[~np.isnan(change)])
        assert found.difference[cell] == pytest.approx(np.nanmean(change))
        ends = found.low[cell], found.high[cell]
        assert ends == pytest.approx(tuple(np.quantile(resampled, [0.025, 0.975])))
        assert found.p[cell] == pytest.approx(expected.pvalue)


def test_unpaired_differences_resample_each_side_by_itself():
    one, other = drawn(0, (12, 1)), drawn(1, (15, 1)) + 0.5
    found = unpaired_differences(one, other, seed=5)
    sides = [
        redraws(np.arange(len(values)), seed=seed).weights @ values[:, 0] / len(values)
        for values, seed in ((one, 5), (other, 6))
    ]
    assert found.difference == pytest.approx(other.mean() - one.mean())
    ends = np.quantile(sides[1] - sides[0], [0.025, 0.975])
    assert [found.low[0], found.high[0]] == pytest.approx(list(ends))
    assert np.isnan(found.p).all()
    assert (found.n, found.n_other) == ([12], [15]), "sequences of both, not of the first alone"


def test_few_sequences_have_no_interval_and_no_p_value():
    one, other = drawn(0, (LEAST_UNITS - 1, 1)), drawn(1, (LEAST_UNITS - 1, 1))
    for compare in (paired_differences, unpaired_differences):
        found = compare(one, other, seed=0)
        assert np.isnan([found.low, found.high, found.p]).all()
    assert np.isnan(means(one, seed=0).low).all()


def test_correction_leaves_out_what_is_unknown():
    p = np.array([0.01, np.nan, 0.04, 0.03, 0.5])
    known = ~np.isnan(p)
    np.testing.assert_allclose(corrected(p)[known], false_discovery_control(p[known]))
    assert np.isnan(corrected(p)[1])
    assert np.isnan(corrected(np.array([np.nan]))).all()


FACTS = {
    "model": "some/model",
    "input": "text",
    "layer_order": "post_norm",
    "random_weights": "none",
    "n_layers": "6",
    "n_heads": "12",
    "corpus_sha256": "a",
    "mask_rate": "0.0",
    "seed": "0",
}
TOKENS = [(0, 0, 1), (0, 1, 2), (1, 0, 1), (1, 1, 3)]
VOCABULARY = {1: "[CLS]", 2: "cat", 3: "dog"}


def account_of(tokens=TOKENS, vocabulary=VOCABULARY, masked=(), **facts: str) -> Account:
    frame = pd.DataFrame(tokens, columns=["seq", "pos", "token_id"])
    is_masked = [place in masked for place in zip(frame["seq"], frame["pos"], strict=True)]
    ids = np.where(is_masked, MASKED, frame["token_id"])
    lengths = frame.groupby("seq").size().reset_index(name="n_tokens")
    words = pd.DataFrame({"token_id": vocabulary.keys(), "token": vocabulary.values()})
    return Account(FACTS | facts, lengths, ids, words)


ONE = account_of()
NO_CORPUS = ("paired", "heads", "head_by_head", "training")
OTHERS = {
    "the same": (account_of(), {}),
    "masked": (
        account_of([*TOKENS[:3], (1, 1, 9)], masked={(1, 1)}, mask_rate="0.5"),
        {"training": ("masking",)},
    ),
    "another corpus": (account_of(corpus_sha256="b"), dict.fromkeys(NO_CORPUS, ("corpus",))),
    "another tokenizer": (
        account_of(vocabulary={1: "[CLS]", 2: "dog", 3: "cat"}),
        dict.fromkeys(KINDS[1:], ("tokenizer",)),
    ),
    "other sequences": (
        account_of([(0, 0, 3), (0, 1, 2), (1, 0, 1)]),
        dict.fromkeys(NO_CORPUS, ("sequences",)),
    ),
    "images": (account_of(input="images"), dict.fromkeys(KINDS, ("input",))),
    "attention in other layers": (
        account_of(without_attention="1 Mamba2Mixer"),
        dict.fromkeys(("heads", "head_by_head", "training"), ("shape",)) | {"pairs": ("depth",)},
    ),
    "pre-norm": (account_of(layer_order="pre_norm"), {"pairs": ("layer_order",)}),
    "untrained": (
        account_of(random_weights="1"),
        dict.fromkeys(("head_by_head", "training"), ("random_weights",)),
    ),
    "another step": (account_of(model="some/model@step100"), {}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_reason_stands_against_the_comparisons_it_forbids(name):
    other, expected = OTHERS[name]
    for kind in KINDS:
        assert reasons(ONE, other, kind) == expected.get(kind, ())
        assert reasons(other, ONE, kind) == expected.get(kind, ())


def test_shared_sequences_have_the_same_tokens_but_where_they_are_masked():
    masked, cut = OTHERS["masked"][0], account_of(TOKENS[:3])
    changed = account_of([*TOKENS[:3], (1, 1, 2)])
    assert list(shared_sequences(ONE, masked)) == [0, 1]
    assert list(shared_sequences(ONE, cut)) == list(shared_sequences(ONE, changed)) == [0]
    assert not len(shared_sequences(ONE, OTHERS["another corpus"][0]))


def test_a_step_of_a_training_is_told_by_name_or_revision():
    steps = {
        "a/b@step1000": ("a/b", 1000),
        "google/multiberts-seed_0-step_20k": ("google/multiberts-seed_0", 20000),
        "runs/x/checkpoint-500": ("runs/x", 500),
        "a/b@main": ("a/b", None),
        "stepwise-bert": ("stepwise-bert", None),
    }
    assert {name: training_step(name) for name in steps} == steps
