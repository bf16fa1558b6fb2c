"""Deletion and insertion of patches: as a loop over patches, and in a store by the real passes.

The store is compared with transformers' own classifier on images that are painted over by hand."""

from collections.abc import Callable
from fractions import Fraction
from math import floor

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.relevance.perturbation import area_under_curve, kept_patches, removal_order
from analysis.statistics.base.tables import Table
from analysis.statistics.relevance import (
    CLASS_PREDICTION,
    CURVES,
    ORDERS,
    RANDOM,
    SEQUENCE_PERTURBATION,
    STEPS,
)
from precompute.corpora.randomness import generator
from precompute.jobs.plan import Plan
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.passes import relevance as passes
from precompute.passes.relevance import Relevance
from tests.intervals import assert_ordered
from tests.precompute.corpora.tiny import unhurried
from tests.tracing import layers_of, rows_of_table


def slow_order(relevance: list[float], draw: list[int]) -> list[int]:
    """Order of the patches by relevance; ties in the order of the draw."""
    left, taken = set(range(len(relevance))), []
    while left:
        largest = max(relevance[patch] for patch in left)
        ties = [patch for patch in left if relevance[patch] == largest]
        taken.append(min(ties, key=lambda patch: draw[patch]))
        left.remove(taken[-1])
    return taken


def slow_curve(
    taken: list[int], n_steps: int, score: Callable[[list[bool]], float], *, insertion: bool
) -> list[float]:
    """Scores of the patches kept after every step."""
    scores = []
    for step in range(n_steps + 1):
        n = floor(Fraction(step * len(taken), n_steps) + Fraction(1, 2))
        gone = set(taken[:n])
        scores.append(score([(patch in gone) == insertion for patch in range(len(taken))]))
    return scores


def slow_area(values: list[float]) -> float:
    """Area under the curve by the trapezoidal rule, over a width of 1."""
    return float(np.trapezoid(values) / (len(values) - 1))


RELEVANCE = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.25, 0.5]), min_size=1, max_size=23)
SEED = st.integers(0, 2**31)


def draw_of(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(n)


@given(RELEVANCE, SEED)
@unhurried()
def test_the_most_relevant_patch_that_is_left_goes_first(relevance, seed):
    draw = draw_of(len(relevance), seed)
    order = removal_order(np.array(relevance), draw).tolist()
    assert order == slow_order(relevance, draw.tolist())


@given(RELEVANCE, SEED, st.integers(1, 12))
@unhurried()
def test_curves_of_any_score_are_those_of_the_twin(relevance, seed, n_steps):
    order = removal_order(np.array(relevance), draw_of(len(relevance), seed))
    weights = np.random.default_rng(seed + 1).random(len(order))

    def score(kept: list[bool]) -> float:
        return float(np.tanh(weights @ np.array(kept)))

    for kept, insertion in zip(kept_patches(order, n_steps), (False, True), strict=True):
        expected = slow_curve(order.tolist(), n_steps, score, insertion=insertion)
        curve = [score(mask) for mask in kept.tolist()]
        assert curve == pytest.approx(expected, rel=1e-12)
        area = area_under_curve(np.array([curve]))[0]
        assert area == pytest.approx(slow_area(expected), rel=1e-12)


SEQ = 2
NOISE = 1e-5  # of probabilities in float32, by batches of other sizes


@pytest.fixture(scope="module")
def model(curves_run) -> LoadedModel:
    return load_model(curves_run[0].model, device="cpu")


def rows_of(table: Table, model: LoadedModel, plan: Plan, *places: int, **chosen) -> pd.DataFrame:
    """Rows of some of the run's images, as a run makes them."""
    every = tuple(plan.corpus)
    sequences = tuple(every[place] for place in places)
    return rows_of_table(table, model, sequences, **({"kept": plan.kept} | chosen)).to_pandas()


def probabilities(model: LoadedModel, pixels: torch.Tensor) -> torch.Tensor:
    assert model.classifier is not None
    with torch.inference_mode():
        return model.classifier(pixels[None]).logits[0].softmax(dim=-1)


def test_predictions_are_those_of_the_classifier_itself(curves_store, model, curves_run):
    for sequence in curves_run[1].corpus:
        expected = probabilities(model, model.image_reader.pixels(sequence.picture))
        predictions = curves_store.execute(
            "from class_prediction where seq = ? order by rank", [sequence.index]
        ).df()
        order = expected.argsort(descending=True).tolist()
        assert predictions["rank"].tolist() == [1, 2, 3]
        assert predictions["label"].tolist() == [
            model.model.config.id2label[index] for index in order
        ]
        np.testing.assert_allclose(predictions["probability"], expected[order], atol=NOISE)


def test_only_the_likeliest_classes_are_told(model, curves_run, monkeypatch):
    monkeypatch.setattr(passes.tables, "RANKS", 2)
    rows = rows_of(CLASS_PREDICTION, model, curves_run[1], 0, 1)
    assert rows["rank"].tolist() == [1, 2, 1, 2]
    assert rows["seq"].tolist() == [0, 0, 1, 1]


def test_curves_are_those_of_images_painted_over_patch_by_patch(curves_store, model, curves_run):
    sequence = tuple(curves_run[1].corpus)[SEQ]
    layers = layers_of(model, [sequence], kept=frozenset({SEQ}))
    maps, is_content = Relevance(layers[0].batch), layers[0].batch.is_content[0]
    for layer in layers:
        maps.add(layer)
    relevance = {
        rule: scores[is_content].tolist() for rule, scores in maps.maps[0].mean_maps(2).items()
    } | {RANDOM: [0.0] * 12}
    assert set(relevance) == set(ORDERS)
    draw = generator(0, purpose="perturbation", index=SEQ).permutation(12).tolist()
    pixels = model.image_reader.pixels(sequence.picture)
    predicted = int(probabilities(model, pixels).argmax())

    def score(kept: list[bool]) -> float:
        painted = pixels.clone()
        for patch, is_kept in enumerate(kept):
            if not is_kept:
                top, left = patch // 4 * 4, patch % 4 * 4
                for channel in range(3):
                    mean = float(pixels[channel].mean())
                    painted[channel, top : top + 4, left : left + 4] = mean
        return float(probabilities(model, painted)[predicted])

    curves = curves_store.execute("from sequence_perturbation where seq = ?", [SEQ]).df()
    for rule, values in relevance.items():
        taken = slow_order(values, draw)
        for curve in CURVES:
            [row] = curves[(curves["rule"] == rule) & (curves["curve"] == curve)].itertuples()
            expected = slow_curve(taken, STEPS, score, insertion=curve == "insertion")
            np.testing.assert_allclose(row.probability, expected, atol=NOISE)
            assert row.area == pytest.approx(slow_area(expected), abs=NOISE)


def test_means_are_over_images_at_every_share_and_of_areas(curves_store):
    rows = curves_store.sql("from sequence_perturbation").df().groupby(["rule", "curve"])
    means = curves_store.sql("from perturbation order by share").df()
    assert len(means) == len(ORDERS) * len(CURVES) * (STEPS + 2)
    for place, of_curve in means.groupby(["rule", "curve"]):
        curve, [area] = of_curve["mean"].iloc[:-1], of_curve["mean"].iloc[-1:]
        expected = np.mean(rows.get_group(place)["probability"].tolist(), axis=0)
        np.testing.assert_allclose(curve, expected, atol=1e-6)
        assert area == pytest.approx(slow_area(expected.tolist()), abs=1e-6)
    assert (means["n_sequences"] == 5).all()
    assert_ordered(means["low"], means["mean"], means["high"])


def test_random_orders_are_of_the_image_and_the_seed(model, curves_run):
    def random(seed: int) -> list[list[float]]:
        rows = rows_of(SEQUENCE_PERTURBATION, model, curves_run[1], 0, 1, seed=seed)
        return rows[rows["rule"] == RANDOM]["probability"].map(list).tolist()

    assert random(0) == random(0)
    assert random(0) != random(1)
    draws = [generator(0, purpose="perturbation", index=index).permutation(12) for index in (0, 1)]
    assert (draws[0] != draws[1]).any()


def test_curves_are_drawn_of_so_many_of_the_kept_images(model, curves_run, monkeypatch):
    monkeypatch.setattr(passes, "TOKENS", 2 * 13 + 5)  # images of 13 tokens
    for chosen, drawn in (({}, {0, 2}), ({"kept": frozenset({1, 4})}, {1, 4})):
        rows = rows_of(SEQUENCE_PERTURBATION, model, curves_run[1], *range(5), **chosen)
        assert set(rows["seq"]) == drawn
    for chosen in ({"kept": frozenset()}, {"classification": None}):
        assert rows_of(SEQUENCE_PERTURBATION, model, curves_run[1], 0, **chosen).empty
    assert rows_of(CLASS_PREDICTION, model, curves_run[1], 0, classification=None).empty
