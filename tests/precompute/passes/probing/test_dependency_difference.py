"""Dependencies predicted by norms, against vectors of the bare trace, and against weights."""

from typing import Any

import pytest

from analysis.measures.bootstrap import redraws
from analysis.measures.probing.probe_accuracy import halves
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.norms.weighing import NORM, WEIGHINGS
from analysis.statistics.probing import dependency_accuracy, dependency_best, dependency_difference
from analysis.statistics.probing.dependency_prediction import DIRECTIONS
from precompute.models.load_models import load_model
from tests.reference.probing import dependency_accuracy as reference
from tests.reference.probing import dependency_prediction as prediction
from tests.reference.probing import probe_accuracy, word_attention
from tests.reference.transformed_vectors import of_trace

Predicted = dict[int, list[int]]


@pytest.fixture(scope="module")
def predicted(probing_store) -> dict[tuple[Any, ...], Predicted]:
    """Stored predictions of heads: by weighing, direction, layer and head, by text."""
    rows = probing_store.execute("from dependency_prediction_weighing where merging = 'mean'").df()
    predictions: dict[tuple[Any, ...], Predicted] = {}
    for row in rows.itertuples():
        cell = (row.weighing, row.direction, row.layer, row.head)
        predictions.setdefault(cell, {})[row.seq] = list(row.predicted)
    return predictions


def test_norms_are_predicted_from_the_vectors_of_the_bare_trace(probing_store, probing_run):
    """The predicted word has the largest value in float64, word by word, up to near ties."""
    asked, plan = probing_run
    model = load_model(asked.model, device="cpu")
    is_causal = model.layers[0].is_causal
    rules = dict(zip(DIRECTIONS, (prediction.by_dependent, prediction.by_governor), strict=True))
    merge = dict(zip(MERGINGS, (word_attention.by_mean, word_attention.by_first), strict=True))
    n_checked = 0
    for sequence in list(plan.corpus)[::4]:
        assert sequence.annotation is not None
        spans = [(int(start), int(end)) for start, end in sequence.word_spans]
        maps = of_trace(model.trace([sequence]))["norm"]
        rows = probing_store.execute(
            "from dependency_prediction_weighing where weighing = 'norm' and seq = $seq",
            {"seq": sequence.index},
        ).df()
        for row in rows.itertuples():
            matrix = merge[row.merging](maps[row.layer, row.head], spans)
            rule = rules[row.direction]
            best = rule(matrix, list(sequence.annotation.sentences), is_causal=is_causal)
            for word, (picked, expected) in enumerate(zip(row.predicted, best, strict=True)):
                ends = [(word, picked), (word, expected)]
                ends = ends if row.direction == DIRECTIONS[0] else [(b, a) for a, b in ends]
                (a, b), (c, d) = ends
                assert (picked < 0) == (expected < 0)
                assert picked < 0 or matrix[a][b] == pytest.approx(matrix[c][d], abs=1e-6)
                n_checked += 1
    assert n_checked > 100


def test_norms_have_accuracies_of_their_own(probing_store, tree_texts, predicted):
    n_other = 0
    for (weighing, direction, layer, head), of_head in predicted.items():
        rows = dependency_accuracy.of_head(
            probing_store, layer=layer, head=head, merging="mean", weighing=weighing
        )
        row: Any
        for row in rows[rows["direction"] == direction].itertuples():
            scores = [
                reference.score(tree_texts[seq], of_head[seq], row.relation) for seq in of_head
            ]
            n, right = (sum(counts) for counts in zip(*scores, strict=True))
            assert (row.n, row.accuracy) == (n, pytest.approx(right / n))
        n_other += weighing == NORM and of_head != predicted["weight", direction, layer, head]
    assert n_other, "norms predict what weights do, so this test shows nothing"


@pytest.mark.parametrize("chosen_on", dependency_best.CHOSEN_ON)
def test_the_best_by_norms_is_compared_with_the_best_by_weights_on_the_same_words(
    probing_store, probing_run, tree_texts, predicted, chosen_on
):
    first = halves(len(tree_texts), seed=0)
    order = sorted(tree_texts)
    half = {seq for seq, is_in in zip(order, first, strict=True) if is_in == (chosen_on == "first")}
    scored = [seq for seq in order if chosen_on == "all" or seq not in half]
    documents = probing_run[1].corpus.units()[scored]
    draws = redraws(documents, seed=0).weights.tolist()
    rows = dependency_difference.differences(probing_store, merging="mean", chosen_on=chosen_on)
    best = {
        weighing: dependency_best.best(
            probing_store, merging="mean", chosen_on=chosen_on, weighing=weighing
        )
        for weighing in WEIGHINGS
    }
    row: Any
    for at, row in enumerate(rows.itertuples()):
        scores = {}
        for way in WEIGHINGS:
            chosen = best[way].iloc[at]
            cell = [getattr(row, f"{name}_{way}") for name in ("direction", "layer", "head")]
            assert [chosen["relation"], *chosen[["direction", "layer", "head"]]] == [
                row.relation,
                *cell,
            ]
            of_cell = predicted[way, *cell]
            scores[way] = [
                reference.score(tree_texts[seq], of_cell[seq], row.relation) for seq in scored
            ]
        n = [n for n, _ in scores["norm"]]
        more = [b[1] - a[1] for a, b in zip(scores["weight"], scores["norm"], strict=True)]
        assert (row.n, row.difference) == (sum(n), pytest.approx(sum(more) / sum(n)))
        assert row.difference == pytest.approx(row.accuracy_norm - row.accuracy_weight)
        assert (row.low, row.high) == pytest.approx(
            probe_accuracy.interval(more, n, draws, documents.tolist()), nan_ok=True
        )
