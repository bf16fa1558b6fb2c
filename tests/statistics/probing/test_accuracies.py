"""Accuracies of single heads as parsers and finders of antecedents, one word after the other."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.measures.bootstrap import Redraws, redraws
from analysis.measures.probing.governors import (
    by_offset,
    deciding_words,
    is_right,
    words_by_relation,
)
from analysis.measures.probing.probe_accuracy import (
    accuracy_interval,
    best_probe,
    halves,
    right_by_sequence,
)
from analysis.statistics.base.weighing import NORM, WEIGHINGS, WEIGHT
from analysis.statistics.probing.accuracy import (
    BASELINES,
    COREFERENCE_ACCURACY,
    COREFERENCE_BEST,
    COREFERENCE_DIFFERENCE,
    DEPENDENCY_ACCURACY,
    DEPENDENCY_BASELINE,
    DIRECTIONS,
)
from pages.syntax.page import SENTENCES_OF_RELATION
from tests.intervals import assert_ordered
from tests.statistics.fits import made, store_of
from tests.tiny import HEADS, LAYERS


def test_where_there_is_no_case_there_is_no_sequence():
    nothing = np.zeros((2, 0), dtype=bool), np.zeros(0, dtype=np.int64)
    present, n, right = right_by_sequence(*nothing)
    assert (present.shape, n.shape, right.shape) == ((0,), (0,), (0, 2))


def test_intervals_follow_their_definition_and_leave_empty_draws_out():
    draw = np.random.default_rng(1)
    n = draw.integers(0, 3, 17)
    right = np.stack([draw.integers(0, n + 1) for _ in range(4)], axis=1).astype(float)
    draws = redraws(np.arange(17), seed=3).weights.copy()
    draws[:5] = 0
    low, high = accuracy_interval(right, n, Redraws(np.arange(17), draws))
    n_cases = draws @ n
    for cell in range(4):  # efron-1979, section 2
        shares = (draws @ right[:, cell])[n_cases > 0] / n_cases[n_cases > 0]
        expected = tuple(np.percentile(shares, [2.5, 97.5]))
        assert (low[cell], high[cell]) == pytest.approx(expected)


def test_sequences_without_a_case_are_no_units():
    n = np.array([1] * 9 + [0] * 30)
    drawn = redraws(np.arange(39), seed=0)
    right = n[:, None].astype(float)
    assert np.isnan(accuracy_interval(right, n, drawn)).all()
    n[9] = right[9] = 1
    assert np.array(accuracy_interval(right, n, drawn)).ravel().tolist() == [1, 1]


@settings(max_examples=30)
@given(st.integers(1, 50), st.integers(0, 5))
def test_halves_are_halves_and_the_seed_decides(n_sequences, seed):
    first = halves(n_sequences, seed=seed)
    assert first.sum() == (n_sequences + 1) // 2
    assert (first == halves(n_sequences, seed=seed)).all()


def test_the_best_is_chosen_where_it_is_to_be_chosen():
    right = np.array([[3, 1, 3], [0, 9, 0], [1, 0, 1]], dtype=float)
    for chosen in ([True, False, True], [True] * 3, [False, True, False]):
        totals = right[np.array(chosen)].sum(axis=0).tolist()
        assert best_probe(right, np.array(chosen)) == totals.index(max(totals))
    assert best_probe(right, np.array([True, False, True])) == 0


def test_a_possessor_is_judged_by_the_ending_that_follows_it_in_its_sentence():
    relations, forms = ["poss", "case", "poss", "nsubj", "poss"], ["Zed", "'s", "my", "dog", "cats"]
    sentences = np.array([0, 0, 0, 0, 0])
    assert deciding_words(relations, forms, sentences).tolist() == [1, 1, 2, 3, 4]
    assert deciding_words(relations, forms, np.arange(5)).tolist() == [0, 1, 2, 3, 4]
    predicted, governors = np.array([[1, 3, 3, -1, 3]]), np.array([3, 0, 3, -1, 4])
    of_both = (deciding_words(relations, forms, of) for of in (sentences, np.arange(5)))
    right = [is_right(predicted, governors, deciding)[0].tolist() for deciding in of_both]
    assert right == [[True, False, True, False, False], [False, False, True, False, False]]


def test_an_offset_ends_with_its_sentence():
    found = {k: by_offset(np.array([0, 0, 0, 1, 1]), np.arange(5), k).tolist() for k in (2, 1, -1)}
    assert found == {2: [2, -1, -1, -1, -1], 1: [1, 2, -1, 4, -1], -1: [-1, 0, 1, -1, 3]}


def test_a_relation_has_its_subtypes_and_none_is_taken_for_all_or_for_the_root():
    members = words_by_relation(["root", "punct", "all", "nsubj:outer", "root:x", "all_words"])
    assert {name: np.flatnonzero(of).tolist() for name, of in members.items()} == {
        "all": [2, 3, 5],
        "all_words": [0, 1, 2, 3, 4, 5],
        "nsubj": [3],
        "nsubj:outer": [3],
    }


class Parts(NamedTuple):
    """Accuracies of heads and of offsets on some of the sequences."""

    seqs: np.ndarray
    heads: pd.DataFrame
    offsets: pd.DataFrame


PLACE, WAY = ["direction", "layer", "head"], ["weighing", "merging", "relation"]
SCORED_ON = {"all": "all", "first": "second", "second": "first"}
"""The part that the best is scored on, by the part that it is chosen on."""


@pytest.fixture(scope="module")
def accuracies(probing_store) -> dict[str, Parts]:
    """By part of the sequences; on all of them they are held to the bare model elsewhere."""
    seqs = probing_store.sql("select distinct seq from word order by seq").df()["seq"].to_numpy()
    first, found = halves(len(seqs), seed=0), {}
    for name, chosen in {"all": seqs, "first": seqs[first], "second": seqs[~first]}.items():
        query, given = "from {} where list_contains($chosen, seq)", {"chosen": chosen}
        tables = {
            table: probing_store.sql(query.format(table), params=given).to_arrow_table()
            for table in ("word", "dependency_prediction", "dependency_prediction_weighing")
        }
        with store_of(**tables) as store:
            heads = made(DEPENDENCY_ACCURACY, store).astype(dict.fromkeys([*WAY, *PLACE[:1]], str))
            offsets = made(DEPENDENCY_BASELINE, store).set_index(["relation", "offset"])
        found[name] = Parts(chosen, heads.set_index([*WAY, *PLACE]).sort_index(), offsets)
    return found


@pytest.mark.parametrize("chosen_on", SCORED_ON)
def test_the_best_is_chosen_on_one_half_and_scored_on_the_other(
    probing_store, accuracies, chosen_on
):
    chosen, scored = accuracies[chosen_on], accuracies[SCORED_ON[chosen_on]]
    rows = probing_store.execute(
        "from dependency_best_weighing where chosen_on = ?", [chosen_on]
    ).df()
    assert {"all", "nsubj", "det"} <= set(rows["relation"])
    for row in rows.itertuples():
        way = (row.weighing, row.merging, row.relation)
        heads, offsets = chosen.heads.loc[way], chosen.offsets.loc[row.relation]
        best, near = heads["accuracy"].idxmax(), offsets["accuracy"].idxmax()
        assert (row.direction, row.layer, row.head, row.offset) == (*best, near)
        assert row.n_tried == len(heads) == len(DIRECTIONS) * LAYERS * HEADS
        known = heads.loc[best]
        assert (row.n_chosen, row.accuracy_chosen) == (known["n"], pytest.approx(known["accuracy"]))
        known = scored.heads.loc[(*way, *best)]
        assert (row.n, row.accuracy) == (known["n"], pytest.approx(known["accuracy"]))
        of_offset = scored.offsets.loc[(row.relation, near), "accuracy"]
        assert row.offset_accuracy == pytest.approx(of_offset)
        assert_ordered(row.difference_low, row.difference, row.difference_high)


RIGHT = """
    select weighing, direction, layer, head, seq,
        sum(coalesce(predicted[word + 1] = governor, false)::int) as n_right, count(*) as n
    from dependency_prediction_weighing join word using (seq)
    where merging = 'mean' group by all order by seq
"""
"""Words of every sequence, and those that each head gets right."""


@pytest.mark.parametrize("chosen_on", SCORED_ON)
def test_the_best_by_norms_is_compared_with_the_best_by_weights_on_the_same_words(
    probing_store, probing_run, accuracies, chosen_on
):
    scored, way = accuracies[SCORED_ON[chosen_on]], ["weighing", "relation"]
    choice = "where merging = 'mean' and chosen_on = ? order by relation"
    rows = probing_store.execute(f"from dependency_difference {choice}", [chosen_on]).df()
    best = probing_store.execute(f"from dependency_best_weighing {choice}", [chosen_on]).df()
    best, right = best.set_index(way), probing_store.sql(RIGHT).df()
    right = right[right["seq"].isin(scored.seqs)].set_index(["weighing", *PLACE])
    assert len(rows)
    for row in rows.to_dict("records"):
        of_ways = {}
        for name in WEIGHINGS:
            cell = [row[f"{of}_{name}"] for of in PLACE]
            assert best.loc[(name, row["relation"]), PLACE].tolist() == cell
            known = scored.heads.loc[(name, "mean", row["relation"], *cell)]
            assert row[f"accuracy_{name}"] == pytest.approx(known["accuracy"])
            assert row["n"] == known["n"]
            of_ways[name] = right.loc[(name, *cell)]
        assert row["difference"] == pytest.approx(row["accuracy_norm"] - row["accuracy_weight"])
        if row["relation"] == "all_words":
            more = of_ways[NORM]["n_right"].to_numpy() - of_ways[WEIGHT]["n_right"].to_numpy()
            drawn = redraws(probing_run[1].corpus.units()[scored.seqs], seed=0)
            n = of_ways[NORM]["n"].to_numpy()
            (low,), (high,) = accuracy_interval(more[:, None].astype(float), n, drawn)
            assert (row["low"], row["high"]) == pytest.approx((low, high), nan_ok=True)


@pytest.mark.parametrize("relation", ["all", "all_words", "nsubj", "nsubj:outer"])
def test_sentences_tell_what_a_head_gets_right(probing_store, accuracies, relation):
    cell = {"direction": "head_to_dependent", "layer": 2, "head": 3}
    asked = {**cell, "merging": "first", "weighing": WEIGHT, "relation": relation}
    rows = probing_store.execute(SENTENCES_OF_RELATION, asked).df()
    known = accuracies["all"].heads.loc[(WEIGHT, "first", relation, *cell.values())]
    assert rows["n"].sum() == known["n"]
    assert rows["n_right"].sum() == pytest.approx(known["n"] * known["accuracy"])
    assert rows["n"].is_monotonic_decreasing
    for row in rows.itertuples():
        of_sentence = probing_store.execute(
            "from word where seq = ? and sentence = ? order by word", [row.seq, row.sentence]
        ).df()
        assert row.text.split()[0].startswith(of_sentence["form"].iloc[0])


def test_the_best_head_of_all_has_the_highest_accuracy_and_stands_beside_every_rule(probing_store):
    accuracies = probing_store.execute(
        "from coreference_accuracy_weighing order by layer, head"
    ).df()
    best = probing_store.execute("from coreference_best_weighing where chosen_on = 'all'").df()
    assert set(best["baseline"]) == set(BASELINES)
    for row in best.itertuples():
        of_type = accuracies[accuracies["mention_type"] == row.mention_type]
        is_way = (of_type["weighing"] == row.weighing) & (of_type["merging"] == row.merging)
        heads = of_type[is_way & (of_type["method"] == "head")]
        top = heads.loc[heads["accuracy"].idxmax()]
        assert (row.layer, row.head, row.n) == (top["layer"], top["head"], top["n"])
        assert row.n_tried == len(heads)
        [rule] = of_type.loc[of_type["method"] == row.baseline, "accuracy"]
        found = (row.accuracy, row.accuracy_chosen, row.baseline_accuracy, row.difference)
        expected = (top["accuracy"], top["accuracy"], rule, top["accuracy"] - rule)
        assert found == pytest.approx(expected)


def test_texts_without_mentions_have_no_accuracy(probing_store):
    nothing = probing_store.sql("from coreference_prediction_weighing limit 0").to_arrow_table()
    mentions = pd.DataFrame({"seq": [0], "mention": [0], "mention_type": ["pronoun"]})
    with store_of(coreference_prediction_weighing=nothing, mention=mentions) as store:
        for table in (
            COREFERENCE_ACCURACY,
            COREFERENCE_BEST,
            COREFERENCE_DIFFERENCE,
        ):
            assert made(table, store).empty
