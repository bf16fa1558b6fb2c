"""Stored predictions and accuracies of heads, against a loop over the words of a small treebank."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.measures.probing.probe_accuracy import halves
from analysis.statistics.annotation import MERGINGS, words
from analysis.statistics.probing import (
    dependency_accuracy,
    dependency_baseline,
    dependency_best,
    dependency_prediction,
)
from analysis.statistics.probing.dependency_prediction import DIRECTIONS
from precompute.models.load_models import load_model
from precompute.passes.batch import Batch
from tests.intervals import assert_ordered
from tests.reference.probing import dependency_accuracy as reference
from tests.reference.probing import dependency_prediction as prediction
from tests.tiny import HEADS, LAYERS

CELLS = [(place // HEADS + 1, place % HEADS + 1) for place in range(LAYERS * HEADS)]
Predicted = dict[tuple[str, str, int, int, int], list[int]]


@pytest.fixture(scope="module")
def slow(probing_run) -> Predicted:
    """Predictions of the twin, by merging, direction, layer, head and sequence."""
    asked, plan = probing_run
    model = load_model(asked.model, device="cpu")
    is_causal = model.layers[0].is_causal
    predictions: Predicted = {}
    for sequence in plan.corpus:
        ((seq, known, attention),) = Batch((sequence,), model.trace([sequence])).annotated
        for merging, maps in zip(MERGINGS, (attention.mean, attention.first), strict=True):
            rules = (prediction.by_dependent, prediction.by_governor)
            for direction, rule in zip(DIRECTIONS, rules, strict=True):
                for (layer, head), matrix in zip(CELLS, maps.tolist(), strict=True):
                    predicted = rule(matrix, list(known.sentences), is_causal=is_causal)
                    predictions[merging, direction, layer, head, seq] = predicted
    return predictions


def _score(tree_texts, predicted: dict[int, list[int]], relation: str) -> tuple[int, int]:
    scores = [reference.score(tree_texts[seq], predicted[seq], relation) for seq in predicted]
    return sum(n for n, _ in scores), sum(right for _, right in scores)


def _of_cell(slow: Predicted, *cell: Any) -> dict[int, list[int]]:
    return {key[4]: predicted for key, predicted in slow.items() if key[:4] == cell}


def _rows(frame: pd.DataFrame) -> list[Any]:
    return list(frame.itertuples())


def test_predictions_are_those_of_the_twin(probing_store, slow):
    rows = probing_store.execute("from dependency_prediction").df()
    assert len(rows) == len(slow)
    for row in _rows(rows):
        expected = slow[row.merging, row.direction, row.layer, row.head, row.seq]
        assert list(row.predicted) == expected


def test_accuracies_are_those_of_the_twin(probing_store, tree_texts, slow):
    known = dependency_accuracy.relations(probing_store)["relation"].tolist()
    assert {"all", "all_words", "nsubj", "nsubj:outer", "det"} <= set(known)
    assert not {"root", "punct"} & set(known)
    for merging in MERGINGS:
        for layer, head in CELLS:
            rows = dependency_accuracy.of_head(
                probing_store, layer=layer, head=head, merging=merging
            )
            assert len(rows) == len(known) * len(DIRECTIONS)
            for row in _rows(rows):
                predicted = _of_cell(slow, merging, row.direction, layer, head)
                n, right = _score(tree_texts, predicted, row.relation)
                assert (row.n, row.accuracy) == (n, pytest.approx(right / n))
                assert_ordered(row.low, row.accuracy, row.high)


def test_every_question_is_answered_from_the_same_rows(probing_store):
    for merging in MERGINGS:
        best = dependency_accuracy.best_heads(probing_store, merging=merging)
        known = dependency_accuracy.relations(probing_store)["relation"]
        assert best["relation"].tolist() == known.tolist()
        for row in _rows(best):
            asked = {"relation": row.relation, "merging": merging}
            every = pd.concat(
                dependency_accuracy.of_relation(probing_store, **asked, direction=direction)
                for direction in DIRECTIONS
            )
            assert len(every) == len(CELLS) * len(DIRECTIONS)
            assert row.accuracy == every["accuracy"].max()
    wide = probing_store.execute("from dependency_accuracy").df()
    assert len(wide) == len(probing_store.execute("from dependency_accuracy_merging").df()) / 2


def test_offsets_are_those_of_the_twin(probing_store, tree_texts):
    rows = dependency_baseline.baselines(probing_store)
    assert sorted(set(rows["offset"])) == [-3, -2, -1, 1, 2, 3]
    for row in _rows(rows):
        predicted = {seq: reference.by_offset(of, row.offset) for seq, of in tree_texts.items()}
        n, right = _score(tree_texts, predicted, row.relation)
        assert (row.n, row.accuracy) == (n, pytest.approx(right / n))


@pytest.mark.parametrize("chosen_on", dependency_best.CHOSEN_ON)
def test_the_best_is_chosen_on_one_half_and_scored_on_the_other(
    probing_store, tree_texts, slow, chosen_on
):
    first = halves(len(tree_texts), seed=0)
    in_first = {seq for seq, is_in in zip(sorted(tree_texts), first, strict=True) if is_in}
    half = in_first if chosen_on == "first" else set(tree_texts) - in_first
    chosen = set(tree_texts) if chosen_on == "all" else half
    scored = set(tree_texts) if chosen_on == "all" else set(tree_texts) - half
    cells = [(direction, *cell) for direction in DIRECTIONS for cell in CELLS]

    def right(predicted: dict[int, list[int]], relation: str, of: set[int]) -> tuple[int, int]:
        return _score(tree_texts, {seq: predicted[seq] for seq in of}, relation)

    offsets = {
        k: {seq: reference.by_offset(of, k) for seq, of in tree_texts.items()}
        for k in (-3, -2, -1, 1, 2, 3)
    }
    rows = dependency_best.best(probing_store, merging="mean", chosen_on=chosen_on)
    assert {"all", "nsubj", "det"} <= set(rows["relation"])
    for row in _rows(rows):
        predictions = {cell: _of_cell(slow, "mean", *cell) for cell in cells}
        hits = {cell: right(predictions[cell], row.relation, chosen)[1] for cell in cells}
        best = max(cells, key=lambda cell: hits[cell])
        assert (row.direction, row.layer, row.head) == best
        assert row.n_tried == len(cells)
        assert row.accuracy_chosen == pytest.approx(hits[best] / row.n_chosen)
        n, of_head = right(predictions[best], row.relation, scored)
        assert (row.n, row.accuracy) == (n, pytest.approx(of_head / n))
        near = max(offsets, key=lambda k: right(offsets[k], row.relation, chosen)[1])
        assert row.offset == near
        of_offset = right(offsets[near], row.relation, scored)[1]
        assert row.offset_accuracy == pytest.approx(of_offset / n)
        assert_ordered(row.difference_low, row.difference, row.difference_high)


@pytest.mark.parametrize("relation", ["all", "all_words", "nsubj", "nsubj:outer"])
def test_sentences_tell_what_a_head_gets_right(probing_store, tree_texts, slow, relation):
    cell = {"layer": 2, "head": 3, "direction": "head_to_dependent", "merging": "first"}
    rows = dependency_prediction.sentences(probing_store, relation=relation, **cell, limit=1000)
    predicted = _of_cell(slow, "first", "head_to_dependent", 2, 3)
    assert (rows["n"].sum(), rows["n_right"].sum()) == _score(tree_texts, predicted, relation)
    assert rows["n"].is_monotonic_decreasing
    for row in _rows(rows):
        of_sentence = words(probing_store, seq=row.seq).query(f"sentence == {row.sentence}")
        assert row.text.split()[0].startswith(of_sentence["form"].iloc[0])
        predictions = dependency_prediction.of_sentence(probing_store, seq=row.seq, **cell)
        assert predictions["predicted"].tolist() == predicted[row.seq]
        assert predictions["word"].tolist() == list(range(len(predicted[row.seq])))
    few = dependency_prediction.sentences(probing_store, relation=relation, **cell, limit=2)
    pd.testing.assert_frame_equal(few, rows[:2])


def test_hostile_names_of_relations_are_values(probing_store):
    asked = {"relation": "x' or 'a' = 'a", "merging": "mean", "direction": DIRECTIONS[0]}
    assert dependency_accuracy.of_relation(probing_store, **asked).empty
    assert dependency_accuracy.relations(probing_store)["n"].is_monotonic_decreasing
    assert np.isfinite(
        dependency_accuracy.of_relation(probing_store, **asked | {"relation": "det"})
    ).all(axis=None)
