"""Accuracies of single heads as parsers and finders of antecedents, one word after the other."""

from itertools import product
from typing import Any

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
from analysis.statistics.corpus import MERGINGS
from analysis.statistics.probing.accuracy import (
    BASELINES,
    CHOSEN_ON,
    COREFERENCE_ACCURACY,
    COREFERENCE_BEST,
    COREFERENCE_DIFFERENCE,
    DIRECTIONS,
    OFFSETS,
)
from pages.syntax.page import SENTENCES_OF_RELATION
from tests.intervals import assert_ordered
from tests.statistics.fits import made, store_of
from tests.tiny import HEADS, LAYERS

CASES = st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), max_size=30)


@given(CASES)
def test_cases_are_counted_by_sequence(cases):
    cases = sorted(cases, key=lambda case: case[0])
    sequence = np.array([case[0] for case in cases], dtype=np.int64)
    right = np.array([[case[1] for case in cases], [case[2] for case in cases]], dtype=bool)
    present, n, n_right = right_by_sequence(right, sequence)
    of = {seq: [case[1:] for case in cases if case[0] == seq] for seq in {c[0] for c in cases}}
    assert present.tolist() == sorted(of)
    assert n.tolist() == [len(of[seq]) for seq in sorted(of)]
    assert n_right.shape == (len(of), 2)
    assert n_right.tolist() == [
        [sum(side) for side in zip(*of[seq], strict=True)] for seq in sorted(of)
    ]


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


WORDS = "from word where seq = ? order by word"
BEST = """
    from dependency_best_weighing
    where merging = 'mean' and chosen_on = $chosen_on and weighing = $weighing order by relation"""
CELLS = list(product(range(1, LAYERS + 1), range(1, HEADS + 1)))
Word = tuple[str, str, int, int]
"""The form of a word, its relation, its governor (−1: root) and its sentence."""
Predicted = dict[int, list[int]]
RELATIONS = ("root", "punct", "poss", "nsubj", "nsubj:outer", "nmod", "nmod:poss", "all", "")
TEXTS = st.lists(
    st.tuples(
        st.sampled_from(("John", "'s", "s'", "book")),
        st.sampled_from(RELATIONS),
        st.integers(-1, 9),
        st.integers(0, 2),
    ),
    max_size=10,
)


def _counts_for(relation: str, asked: str) -> bool:
    base = relation.split(":")[0]
    if asked == "all_words":
        return True
    return base not in ("root", "punct") and asked in ("all", relation, base)


def slow_score(of: list[Word], predicted: list[int], asked: str) -> tuple[int, int]:
    """Number of words that count, and of the right; a possessor is judged by its ending."""
    n = n_right = 0
    for place, (_, relation, governor, sentence) in enumerate(of):
        if _counts_for(relation, asked):
            following = of[place + 1] if place + 1 < len(of) else ("", "", -1, -1)
            by_ending = relation == "poss" and following[0] in ("'s", "s'")
            judged = place + (by_ending and following[3] == sentence)
            n += 1
            n_right += governor != -1 and predicted[judged] == governor
    return n, n_right


def slow_offset(of: list[Word], offset: int) -> list[int]:
    """Word at an offset from each word; −1 outside the sentence."""
    targets = [place + offset for place in range(len(of))]
    return [
        target if 0 <= target < len(of) and of[target][3] == word[3] else -1
        for target, word in zip(targets, of, strict=True)
    ]


@given(TEXTS, st.lists(st.integers(-1, 9), min_size=10, max_size=10), st.integers(-3, 3))
def test_scores_and_offsets_are_those_of_the_twin(of, predicted, offset):
    of = sorted(of, key=lambda word: word[3])
    forms, relations = [word[0] for word in of], [word[1] for word in of]
    governors, sentences = (np.array([word[side] for word in of], dtype=int) for side in (2, 3))
    deciding = deciding_words(relations, forms, sentences)
    right = is_right(np.array([predicted[: len(of)]], dtype=int), governors, deciding)[0]
    for asked, members in words_by_relation(relations).items():
        assert (members.sum(), (right & members).sum()) == slow_score(of, predicted, asked)
    found = by_offset(sentences, np.arange(len(of)), offset)
    assert found.tolist() == slow_offset(of, offset)


@pytest.fixture(scope="module")
def texts(probing_store, probing_run) -> dict[int, list[Word]]:
    """The words of every sequence, from the file."""
    found = {}
    for sequence in probing_run[1].corpus:
        rows = probing_store.execute(WORDS, [sequence.index]).df()
        rows["governor"] = rows["governor"].fillna(-1).astype(int)
        columns = (rows[name] for name in ("form", "relation", "governor", "sentence"))
        found[sequence.index] = list(zip(*columns, strict=True))
    return found


@pytest.fixture(scope="module")
def predicted(probing_store) -> dict[tuple[Any, ...], Predicted]:
    """Stored predictions: by weighing, merging, direction, layer and head, by text."""
    by_cell: dict[tuple[Any, ...], Predicted] = {}
    for row in probing_store.execute("from dependency_prediction_weighing").df().itertuples():
        cell = (row.weighing, row.merging, row.direction, row.layer, row.head)
        by_cell.setdefault(cell, {})[row.seq] = list(row.predicted)
    assert set(by_cell) == {
        (*ways, *cell) for ways in product(WEIGHINGS, MERGINGS, DIRECTIONS) for cell in CELLS
    }
    return by_cell


def _rows(frame: pd.DataFrame) -> list[Any]:
    return list(frame.itertuples())


def _score(texts: dict[int, list[Word]], of: Predicted, relation: str) -> tuple[int, int]:
    scores = [slow_score(texts[seq], predicted, relation) for seq, predicted in of.items()]
    return sum(n for n, _ in scores), sum(right for _, right in scores)


def _parts(texts: dict[int, list[Word]], chosen_on: str) -> tuple[list[int], list[int]]:
    """Texts to choose on, and to score on."""
    order = sorted(texts)
    if chosen_on == "all":
        return order, order
    first = halves(len(order), seed=0) == (chosen_on == "first")
    return list(np.array(order)[first]), list(np.array(order)[~first])


@pytest.mark.parametrize("chosen_on", CHOSEN_ON)
def test_the_best_is_chosen_on_one_half_and_scored_on_the_other(
    probing_store, texts, predicted, chosen_on
):
    chosen, scored = _parts(texts, chosen_on)
    offsets = {k: {seq: slow_offset(of, k) for seq, of in texts.items()} for k in OFFSETS}
    cells = [(direction, *cell) for direction in DIRECTIONS for cell in CELLS]

    def right(of: Predicted, relation: str, part: list[int]) -> tuple[int, int]:
        return _score(texts, {seq: of[seq] for seq in part}, relation)

    rows = probing_store.execute(BEST, {"chosen_on": chosen_on, "weighing": WEIGHT}).df()
    assert {"all", "nsubj", "det"} <= set(rows["relation"])
    for row in _rows(rows):
        of_cells = {cell: predicted[WEIGHT, "mean", *cell] for cell in cells}
        hits = {cell: right(of_cells[cell], row.relation, chosen)[1] for cell in cells}
        best = max(cells, key=lambda cell: hits[cell])
        assert (row.direction, row.layer, row.head) == best
        assert row.n_tried == len(cells)
        assert row.accuracy_chosen == pytest.approx(hits[best] / row.n_chosen)
        n, of_head = right(of_cells[best], row.relation, scored)
        assert (row.n, row.accuracy) == (n, pytest.approx(of_head / n))
        near = max(offsets, key=lambda k: right(offsets[k], row.relation, chosen)[1])
        assert row.offset == near
        of_offset = right(offsets[near], row.relation, scored)[1]
        assert row.offset_accuracy == pytest.approx(of_offset / n)
        assert_ordered(row.difference_low, row.difference, row.difference_high)


@pytest.mark.parametrize("chosen_on", CHOSEN_ON)
def test_the_best_by_norms_is_compared_with_the_best_by_weights_on_the_same_words(
    probing_store, probing_run, texts, predicted, chosen_on
):
    _, scored = _parts(texts, chosen_on)
    drawn = redraws(probing_run[1].corpus.units()[scored], seed=0)
    rows = probing_store.execute(
        "from dependency_difference where merging = 'mean' and chosen_on = ? order by relation",
        [chosen_on],
    ).df()
    assert len(rows)
    asked = [{"chosen_on": chosen_on, "weighing": way} for way in WEIGHINGS]
    best = {of["weighing"]: probing_store.execute(BEST, of).df() for of in asked}
    row: Any
    for at, row in enumerate(rows.itertuples()):
        scores = {}
        for way in WEIGHINGS:
            place = best[way].iloc[at][["relation", "direction", "layer", "head"]].tolist()
            cell = [getattr(row, f"{name}_{way}") for name in ("direction", "layer", "head")]
            assert place == [row.relation, *cell]
            of = predicted[way, "mean", *cell]
            scores[way] = [slow_score(texts[seq], of[seq], row.relation) for seq in scored]
        n, by_norm = np.array(scores[NORM]).T
        more = by_norm - np.array(scores[WEIGHT])[:, 1]
        assert (row.n, row.difference) == (n.sum(), pytest.approx(more.sum() / n.sum()))
        assert row.difference == pytest.approx(row.accuracy_norm - row.accuracy_weight)
        (low,), (high,) = accuracy_interval(more[:, None].astype(float), n, drawn)
        assert (row.low, row.high) == pytest.approx((low, high), nan_ok=True)


@pytest.mark.parametrize("relation", ["all", "all_words", "nsubj", "nsubj:outer"])
def test_sentences_tell_what_a_head_gets_right(probing_store, texts, predicted, relation):
    cell = {"layer": 2, "head": 3, "direction": "head_to_dependent", "merging": "first"}
    asked = {**cell, "weighing": WEIGHT, "relation": relation}
    rows = probing_store.execute(SENTENCES_OF_RELATION, asked).df()
    of_head = predicted[WEIGHT, "first", "head_to_dependent", 2, 3]
    assert (rows["n"].sum(), rows["n_right"].sum()) == _score(texts, of_head, relation)
    assert rows["n"].is_monotonic_decreasing
    for row in _rows(rows):
        of_sentence = probing_store.execute(WORDS, [row.seq]).df()
        of_sentence = of_sentence[of_sentence["sentence"] == row.sentence]
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
