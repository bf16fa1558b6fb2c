"""Predictions and curves in a store built by the real passes, against transformers' own classifier
on images that are painted over by hand, patch by patch."""

from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
import torch

from analysis.errors import BrokenLaw
from analysis.relevance_rules import ALL
from analysis.scopes import POST_NORM
from analysis.statistics.fit import FitContext
from analysis.statistics.relevance import class_prediction, perturbation
from analysis.statistics.relevance.perturbation import CURVES, ORDERS, RANDOM, STEPS
from precompute.corpora.randomness import generator
from precompute.jobs.plan import Plan
from precompute.models.classification import classification_of
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.passes import STATISTICS
from precompute.passes.batch import Batch
from precompute.passes.relevance import class_prediction as prediction_pass
from precompute.passes.relevance import perturbation as perturbation_fit
from precompute.passes.relevance import relevance_agreement as agreement_fit
from precompute.passes.relevance import sequence_perturbation as curves_pass
from precompute.store.build import create_empty, describe
from precompute.store.check import assert_laws, faults
from precompute.store.show import every_table
from tests.intervals import assert_ordered
from tests.reference.relevance import perturbation as twin

SEQ = 2
NOISE = 1e-5  # of probabilities in float32, by batches of other sizes


@pytest.fixture(scope="module")
def model(curves_run) -> LoadedModel:
    return load_model(curves_run[0].model, device="cpu")


def batch_of(model: LoadedModel, plan: Plan, *places: int, **changes) -> Batch:
    every = tuple(plan.corpus)
    sequences = tuple(every[place] for place in places)
    return Batch(
        sequences,
        model.trace(sequences),
        relevance_start=model.relevance_start,
        kept=plan.kept,
        images=model.images,
        classification=classification_of(model),
        **changes,
    )


def probabilities(model: LoadedModel, pixels: torch.Tensor) -> torch.Tensor:
    assert model.classifier is not None
    with torch.inference_mode():
        return model.classifier(pixels[None]).logits[0].softmax(dim=-1)


def test_predictions_are_those_of_the_classifier_itself(curves_store, model, curves_run):
    for sequence in curves_run[1].corpus:
        expected = probabilities(model, model.image_reader.pixels(sequence.picture))
        predictions = class_prediction.of_sequence(curves_store, seq=sequence.index)
        order = expected.argsort(descending=True).tolist()
        assert predictions["rank"].tolist() == [1, 2, 3]
        assert predictions["label"].tolist() == [
            model.model.config.id2label[index] for index in order
        ]
        np.testing.assert_allclose(predictions["probability"], expected[order], atol=NOISE)


def test_only_the_likeliest_classes_are_told(model, curves_run, monkeypatch):
    monkeypatch.setattr(prediction_pass, "RANKS", 2)
    rows = prediction_pass.totals(batch_of(model, curves_run[1], 0, 1)).to_pandas()
    assert rows["rank"].tolist() == [1, 2, 1, 2]
    assert rows["seq"].tolist() == [0, 0, 1, 1]


def test_curves_are_those_of_images_painted_over_patch_by_patch(curves_store, model, curves_run):
    batch = batch_of(model, curves_run[1], SEQ)
    (maps,), (is_content,) = batch.relevance_maps, batch.is_content
    assert maps is not None
    relevance = {
        rule: scores[is_content].tolist() for rule, scores in maps.mean_maps(2).items()
    } | {RANDOM: [0.0] * 12}
    assert set(relevance) == set(ORDERS)
    draw = generator(0, purpose="perturbation", index=SEQ).permutation(12).tolist()
    pixels = model.image_reader.pixels(batch.sequences[0].picture)
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

    curves = perturbation.of_sequence(curves_store, seq=SEQ)
    for rule, values in relevance.items():
        taken = twin.order(values, draw)
        for curve in CURVES:
            of_curve = curves[(curves["rule"] == rule) & (curves["curve"] == curve)]
            expected = twin.curve(taken, STEPS, score, insertion=curve == "insertion")
            assert of_curve["share"].tolist() == pytest.approx([step / 10 for step in range(11)])
            np.testing.assert_allclose(of_curve["probability"], expected, atol=NOISE)
            assert of_curve["area"].iloc[0] == pytest.approx(twin.area(expected), abs=NOISE)


def test_every_curve_leads_from_the_whole_image_to_its_mean_colour_or_back(curves_store):
    ends = curves_store.execute(
        """
        select seq, curve, rule, probability[1] as first, probability[-1] as last
        from sequence_perturbation
        """
    ).df()
    assert len(ends) == 5 * len(ORDERS) * len(CURVES)
    whole, empty = (
        ends.apply(lambda row, of=of: row["first" if row["curve"] == of else "last"], axis=1)
        for of in CURVES
    )
    assert (whole.groupby(ends["seq"]).nunique() == 1).all()
    assert (empty.groupby(ends["seq"]).nunique() == 1).all()
    for seq, probability in whole.groupby(ends["seq"]).first().items():
        best = class_prediction.of_sequence(curves_store, seq=seq)["probability"].iloc[0]
        assert probability == pytest.approx(best, abs=NOISE)


def test_means_are_over_images_at_every_share_and_of_areas(curves_store):
    rows = pd.concat(perturbation.of_sequence(curves_store, seq=seq) for seq in range(5))
    expected = rows.groupby(["rule", "curve", "share"])["probability"].mean()
    curves = perturbation.curves(curves_store)
    found = curves.set_index(["rule", "curve", "share"])["mean"]
    np.testing.assert_allclose(found.sort_index(), expected.sort_index(), atol=1e-6)
    assert (curves["n_sequences"] == 5).all()
    areas = perturbation.areas(curves_store)
    of_curves = curves.groupby(["rule", "curve"], sort=False)["mean"].apply(twin_area)
    np.testing.assert_allclose(areas["mean"], of_curves, atol=1e-6)
    assert areas["rule"].tolist() == [rule for rule in ORDERS for _ in CURVES]
    for frame in (curves, areas):
        assert_ordered(frame["low"], frame["mean"], frame["high"])


def twin_area(values: pd.Series) -> float:
    return twin.area(values.tolist())


def test_random_orders_are_of_the_image_and_the_seed(model, curves_run):
    def random(seed: int) -> list[list[float]]:
        table = curves_pass.totals(batch_of(model, curves_run[1], 0, 1, seed=seed))
        rows = table.to_pandas()
        return rows[rows["rule"] == RANDOM]["probability"].map(list).tolist()

    assert random(0) == random(0)
    assert random(0) != random(1)
    draws = [generator(0, purpose="perturbation", index=index).permutation(12) for index in (0, 1)]
    assert (draws[0] != draws[1]).any()


def test_curves_are_drawn_of_so_many_of_the_kept_images(model, curves_run, monkeypatch):
    monkeypatch.setattr(curves_pass, "TOKENS", 2 * 13 + 5)  # images of 13 tokens
    batch = batch_of(model, curves_run[1], 0, 1, 2, 3, 4)
    assert set(curves_pass.totals(batch)["seq"].to_pylist()) == {0, 2}
    few = replace(batch, kept=frozenset({1, 4}))
    assert set(curves_pass.totals(few)["seq"].to_pylist()) == {1, 4}
    none = replace(batch, kept=frozenset())
    assert len(curves_pass.totals(none)) == 0


def test_a_model_without_classes_has_neither_predictions_nor_curves(model, curves_run):
    batch = replace(batch_of(model, curves_run[1], 0), classification=None)
    for statistic in (prediction_pass, curves_pass):
        table = statistic.totals(batch)
        assert (len(table), table.schema) == (0, statistic.shard_schema)


def test_a_fit_of_nothing_is_empty():
    for fit in (perturbation_fit, agreement_fit):
        with duckdb.connect(":memory:") as store:
            store.execute("create schema stored")
            store.execute("create temp table blocks (seq integer, block integer)")
            for name in fit.NEEDS:
                needed = STATISTICS[name]
                create_empty(store, needed)
                describe(store, needed)
            table = fit.fit(store, FitContext(seed=0, order=POST_NORM, frequency_ranks={}))
        assert (len(table), table.schema) == (0, fit.TABLE.schema)


def test_what_a_contract_rules_out_is_told(curves_run, tmp_path):
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(curves_run[0].output.read_bytes())
    assert list(faults(copy, every_table())) == []
    with duckdb.connect(str(copy)) as connection:
        for table, change in (
            ("sequence_perturbation", "probability = probability[2:]"),
            ("sequence_perturbation", "area = area + 0.5"),
            ("sequence_perturbation", "probability = list_transform(probability, lambda p: -p)"),
            ("class_prediction", "probability = 1.5"),
            ("class_prediction", "rank = rank + 5"),
            ("perturbation", "low = 2, high = 1"),
            ("perturbation", "share = 1.5"),
        ):
            connection.begin()
            connection.execute(f"update stored.{table} set {change}")
            with pytest.raises(BrokenLaw, match=rf"row\(s\) of {table} break"):
                assert_laws(connection, STATISTICS[table])
            connection.rollback()


def test_all_rules_are_among_the_orders():
    assert (*ALL, RANDOM) == ORDERS
