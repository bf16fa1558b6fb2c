"""clark-2019, section 4.2: accuracies of predicted governors, one word after the other."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.bootstrap import redraws
from analysis.measures.probing.governors import (
    ALL,
    ALL_WORDS,
    by_offset,
    deciding_words,
    is_right,
    words_by_relation,
)
from analysis.measures.probing.probe_accuracy import accuracy_interval, halves
from analysis.statistics.base.weighing import NORM, WEIGHINGS, WEIGHT
from analysis.statistics.corpus import MERGINGS
from analysis.statistics.probing.accuracy import CHOSEN_ON, DIRECTIONS, OFFSETS
from pages.syntax.page import SENTENCES_OF_RELATION
from tests.intervals import assert_ordered
from tests.tiny import HEADS, LAYERS

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


def test_relations_count_their_subtypes_and_have_them_beside():
    relations = ["nmod", "nmod:poss", "root", "punct", "nsubj:outer", "all"]
    masks = {
        name: members.nonzero()[0].tolist()
        for name, members in words_by_relation(relations).items()
    }
    assert masks == {
        ALL: [0, 1, 4, 5],
        ALL_WORDS: [0, 1, 2, 3, 4, 5],
        "nmod": [0, 1],
        "nmod:poss": [1],
        "nsubj": [4],
        "nsubj:outer": [4],
    }


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
