"""Propagation of relevance, published methods and summaries, against loops, by hand, and laws."""

from fractions import Fraction
from math import floor, log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from analysis.measures.relevance.perturbation import removal_order
from analysis.measures.relevance.relevance import (
    Relevance,
    carried_relevance,
    gradient_attention,
    value_distances,
)
from analysis.measures.relevance.relevance_summary import QUANTITIES, relevance_summary
from analysis.relevance_rules import ALL, RULES
from analysis.statistics.base.tables import Table
from analysis.statistics.relevance import (
    CLASS_PREDICTION,
    CURVES,
    ORDERS,
    RANDOM,
    SEQUENCE_PERTURBATION,
    STEPS,
)
from precompute.corpora.sequence import evenly_spaced, generator
from precompute.jobs.plan import Plan
from precompute.live.one_sequence import Rerun
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.passes import relevance as passes
from precompute.passes.relevance import SequenceRelevanceAgreement
from tests.intervals import assert_ordered
from tests.precompute.corpora.tiny import unhurried
from tests.tracing import layers_of, rows_of_table

LAYERS, HEADS, TOKENS, WIDTH = 3, 2, 5, 4


def carried(attention, values, *, dtype=torch.float64) -> Relevance:
    """One sequence without padding; layer, head and token are the first axes of what is given."""
    attention = torch.as_tensor(attention, dtype=dtype)[:, None]
    values = torch.as_tensor(values, dtype=dtype)[:, None]
    n = attention.shape[-1]
    start, is_token = torch.eye(n, dtype=dtype)[:1], torch.ones(1, n, dtype=torch.bool)
    return carried_relevance([*attention], [*values], start=start, is_token=is_token)


def random_layers(seed: int, *, sharpness: float = 2.0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = np.random.default_rng(seed)
    scores = torch.from_numpy(draw.normal(0, sharpness, (LAYERS, HEADS, TOKENS, TOKENS)))
    values = torch.from_numpy(draw.normal(size=(LAYERS, HEADS, TOKENS, WIDTH)))
    return scores.softmax(dim=-1), values


@given(st.integers(0, 2**31), st.sampled_from([0.1, 2.0, 40.0]))
@unhurried(25)
def test_relevance_is_conserved_and_never_negative(seed, sharpness):
    attention, values = random_layers(seed, sharpness=sharpness)
    single = carried(attention, values, dtype=torch.float32)
    for relevance in single.heads, single.mean_weights:
        assert (relevance.maps >= 0).all()
        np.testing.assert_allclose(relevance.maps.sum(dim=-1), 1, atol=1e-5)
        assert (relevance.conservation_error <= 1e-5).all()


def test_constant_values_keep_relevance_in_place_and_are_counted():
    attention, _ = random_layers(3)
    relevance = carried(attention, torch.full((LAYERS, HEADS, TOKENS, WIDTH), 0.1))
    for rule in ("ii", "iii", "iv"):
        maps = relevance.heads.maps[RULES.index(rule), 0]
        assert (maps[..., 0] == 1).all(), rule
    n_layers = torch.arange(1, LAYERS + 1)[:, None].expand(-1, HEADS)
    expected = torch.stack([0 * n_layers, n_layers, 0 * n_layers, n_layers])
    assert (relevance.heads.n_in_place[:, 0] == expected).all()
    assert (relevance.heads.conservation_error[1:] == 0).all()
    assert (relevance.heads.maps[0, 0, ..., 0] < 1).all()


def test_activations_too_small_to_divide_by_lose_nothing():
    """Token 0 is the mean itself and looks away only at a weight at the edge of float32."""
    attention = [[[[1, 1e-45, 0], [0, 1, 0], [0, 0, 1]]]]
    relevance = carried(attention, [[[[0.0], [1.0], [-1.0]]]], dtype=torch.float32).heads
    assert torch.isfinite(relevance.maps).all()
    np.testing.assert_allclose(relevance.maps.sum(dim=-1), 1, atol=1e-6)
    assert relevance.n_in_place[:, 0, 0, 0].tolist() == [0, 1, 0, 1]


def test_values_that_are_nearly_alike_are_told_apart():
    values = (1e4 + 1e-3 * np.random.default_rng(4).normal(size=(6, 16))).astype(np.float32)
    is_token, exact = torch.ones(1, 6, dtype=torch.bool), values.astype(np.float64)
    deviation, distance = value_distances(torch.from_numpy(values)[None, None], is_token)
    expected = np.linalg.norm(exact[:, None] - exact, axis=-1)
    np.testing.assert_allclose(distance[0, 0], expected, rtol=1e-6)
    from_mean = np.linalg.norm(exact - exact.mean(axis=0), axis=-1)
    np.testing.assert_allclose(deviation[0, 0], from_mean, rtol=1e-6)


def test_padding_is_in_no_mean():
    values = torch.tensor([[[[0.0], [2.0], [100.0]]]])
    deviation, _ = value_distances(values, torch.tensor([[True, True, False]]))
    assert deviation[0, 0].tolist() == [1, 1, 0]


def test_a_head_of_tiny_values_is_no_other_beside_one_of_huge_values():
    """The largest deviation is that of a head by itself, since no rule sees a scale in it."""
    attention, values = random_layers(6)
    by_itself = carried(attention[:, :1], values[:, :1]).heads
    scaled = torch.stack([1e-30 * values[:, 0], 1e15 * values[:, 1]], dim=1)
    both = carried(attention, scaled, dtype=torch.float32).heads
    ii = RULES.index("ii")
    np.testing.assert_allclose(both.maps[ii, :, :, 0], by_itself.maps[ii, :, :, 0], atol=1e-5)
    assert not both.n_in_place[ii].any()


def test_gradient_attention_follows_its_slow_twin():
    """R = I, then R = R + E_h((∇A ⊙ A)⁺) R in every layer; the start's rows, 1 in sum."""
    start = torch.tensor([0.75, 0, 0, 0.25], dtype=torch.float64)
    attention, gradients = np.random.default_rng(0).normal(size=(2, 3, 2, 4, 4))
    maps = torch.from_numpy(attention).softmax(dim=-1)
    relevance = gradient_attention([*maps], [*torch.from_numpy(gradients)], start)
    product = np.eye(4)
    for heads, slopes in zip(maps.numpy(), gradients, strict=True):
        product = product + (heads * slopes).clip(min=0).mean(axis=0) @ product
    expected = start.numpy() @ product
    np.testing.assert_allclose(relevance, expected / expected.sum(), rtol=1e-9)


OF_TWO = {"entropy": log(2), "evenness": 1, "top5_share": 0.5}


@pytest.mark.parametrize(
    ("relevance", "given", "expected"),
    [
        (
            [0.2, 0.1, 0.1, 0.4, 0.2],
            {"coverage": [1, 0.5, 0, np.nan]},
            {"cls_share": 0.2, "special_share": 0.2, "entropy": 1.75 * log(2), "evenness": 0.875}
            | {"top5_share": 0.5, "mask_share": 0.25, "mask_chance": 0.5, "pointing": 0},
        ),
        (
            [0.4, 0.3, 0.3],
            {"coverage": [1, 0.5]},
            {"cls_share": 0.4, "special_share": 0.4, **OF_TWO}
            | dict.fromkeys(("mask_share", "mask_chance", "pointing"), 0.75),
        ),
        ([0.3, 0.3], {"n_special": 0, "has_cls": False}, {"special_share": 0, **OF_TWO}),
        (
            [1.0, 0.0, 0.0],
            {"coverage": [1, 0]},
            {"cls_share": 1, "special_share": 1, "mask_chance": 0.5},
        ),
        (
            [0.2, 0.4, 0.4],
            {"coverage": [np.nan, np.nan]},
            {"cls_share": 0.2, "special_share": 0.2, **OF_TWO},
        ),
    ],
    ids=["whole", "ties", "nothing special", "no content", "no mask"],
)
def test_a_map_has_the_numbers_reckoned_by_hand_and_no_others(relevance, given, expected):
    """Its first tokens are special, the very first of them [CLS]."""
    places, coverage = np.arange(len(relevance)), given.get("coverage")
    [numbers] = relevance_summary(
        np.array([relevance]),
        is_cls=(places == 0) & given.get("has_cls", True),
        is_content=places >= given.get("n_special", 1),
        coverage=None if coverage is None else np.asarray(coverage, dtype=float),
    )
    found = dict(zip(QUANTITIES, numbers.tolist(), strict=True))
    assert found == pytest.approx(dict.fromkeys(QUANTITIES, np.nan) | expected, nan_ok=True)


@pytest.mark.parametrize("family", ["bert", "vit"], indirect=True, scope="session")
def test_every_two_maps_of_the_last_layer_agree_by_rank_over_content(sequences, tiny):
    layers = layers_of(tiny, sequences, kept=frozenset({0}), classification=None)
    filling = SequenceRelevanceAgreement(layers[0].batch)
    for layer in layers:
        filling.add(layer)
    rows = filling.rows().to_pandas()
    last, n_rows = len(tiny.layers) - 1, 0
    for row, relevance in filling.relevance.maps.items():
        is_content = filling.batch.is_content[row]
        maps = {rule: values[is_content] for rule, values in relevance.mean_maps(last).items()}
        assert ("norm_rollout_layer" in maps) == (row == 0), "kept sequences alone have it"
        of_sequence = rows[rows["seq"] == sequences[row].index].set_index(["rule_a", "rule_b"])
        for place, first in enumerate(maps):
            for second in list(maps)[place + 1 :]:
                if min(np.ptp(maps[first]), np.ptp(maps[second])) > 0:
                    expected = spearmanr(maps[first], maps[second])[0]
                    spearman = of_sequence.loc[(first, second), "spearman"]
                    assert spearman == pytest.approx(expected, abs=1e-6)
                    n_rows += 1
    assert n_rows == len(rows) > 0
    for row, relevance in filling.relevance.maps.items():
        special = ~filling.batch.is_content[row]
        relevance.maps[:, special] = np.random.default_rng(0).random((1, int(special.sum())))
    assert filling.rows().to_pandas().equals(rows), "special tokens are not compared"


def test_means_are_over_the_sequences_and_the_same_in_either_order(curves_store):
    rows = curves_store.sql("from relevance_agreement").df()
    agreement = rows.set_index(["rule_a", "rule_b"])
    assert (rows.loc[rows["rule_a"] == rows["rule_b"], "mean"] == 1).all()
    assert len(agreement) == len(ALL) ** 2
    rows = curves_store.execute("from sequence_relevance_agreement").df()
    for (first, second), group in rows.groupby(["rule_a", "rule_b"], observed=True):
        for place in ((first, second), (second, first)):
            row = agreement.loc[place]
            assert row["mean"] == pytest.approx(group["spearman"].mean(), abs=1e-6)
            assert_ordered(row["low"], row["mean"], row["high"])


def test_uploads_have_the_maps_predictions_and_pictures_of_a_folder(curves_run, curves_store):
    asked, _ = curves_run
    again = Rerun(load_model(asked.model, device="cpu"))
    for image in curves_store.execute("from image order by seq").df()[:2].itertuples():
        upload = again.relevance_of_image(
            Path(asked.corpus, image.name).read_bytes(), name=image.name
        )
        rows = curves_store.execute(
            "select rule, layer, head, relevance from relevance_map where seq = ?", [image.seq]
        ).df()
        for rule, layer, head, relevance in rows.itertuples(index=False):
            of_rule = upload.maps[rule][layer - 1 - (3 - len(upload.maps[rule]))]
            values = of_rule[-1 if pd.isna(head) else int(head) - 1]
            np.testing.assert_allclose(values, relevance, atol=1e-6)
        assert len(rows) == sum(maps.shape[0] * maps.shape[1] for maps in upload.maps.values())
        stored = curves_store.execute(
            "select label, probability from class_prediction where seq = ? order by rank",
            [image.seq],
        ).fetchall()
        assert [label for label, _ in upload.prediction] == [label for label, _ in stored]
        np.testing.assert_allclose([p for _, p in upload.prediction], [p for _, p in stored], 1e-5)
        assert upload.picture == bytes(image.picture)
        grid = (image.grid_rows, image.grid_columns, image.first_patch)
        assert (upload.rows, upload.columns, upload.first_patch) == grid


def slow_order(relevance: list[float], draw: list[int]) -> list[int]:
    """Order of the patches by relevance; ties in the order of the draw."""
    return sorted(range(len(relevance)), key=lambda patch: (-relevance[patch], draw[patch]))


@given(st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5]), min_size=1), st.integers(0, 2**31))
def test_the_most_relevant_patch_that_is_left_goes_first(relevance, seed):
    draw = np.random.default_rng(seed).permutation(len(relevance))
    order = removal_order(np.array(relevance), draw).tolist()
    assert order == slow_order(relevance, draw.tolist())


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


def test_predictions_are_those_of_the_classifier_itself(
    curves_store, model, curves_run, monkeypatch
):
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
    monkeypatch.setattr(passes.tables, "RANKS", 2)
    rows = rows_of(CLASS_PREDICTION, model, curves_run[1], 0, 1)
    assert rows[["seq", "rank"]].values.tolist() == [[0, 1], [0, 2], [1, 1], [1, 2]]


def test_curves_are_those_of_images_painted_over_patch_by_patch(curves_store, model, curves_run):
    sequence = tuple(curves_run[1].corpus)[SEQ]
    layers = layers_of(model, [sequence], kept=frozenset({SEQ}))
    maps, is_content = passes.Relevance(layers[0].batch), layers[0].batch.is_content[0]
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
    steps, half = range(STEPS + 1), Fraction(1, 2)
    for rule, values in relevance.items():
        taken = slow_order(values, draw)
        for curve in CURVES:
            [row] = curves[(curves["rule"] == rule) & (curves["curve"] == curve)].itertuples()
            gone = [set(taken[: floor(Fraction(step * 12, STEPS) + half)]) for step in steps]
            is_insertion = curve == "insertion"
            kept = [[(patch in of) == is_insertion for patch in range(12)] for of in gone]
            expected = [*map(score, kept)]
            np.testing.assert_allclose(row.probability, expected, atol=NOISE)
            area = float(np.trapezoid(expected, dx=1 / STEPS))
            assert row.area == pytest.approx(area, abs=NOISE)


def test_means_are_over_images_at_every_share_and_of_areas(curves_store):
    rows = curves_store.sql("from sequence_perturbation").df().groupby(["rule", "curve"])
    means = curves_store.sql("from perturbation order by share").df()
    assert len(means) == len(ORDERS) * len(CURVES) * (STEPS + 2)
    for place, of_curve in means.groupby(["rule", "curve"]):
        curve, [area] = of_curve["mean"].iloc[:-1], of_curve["mean"].iloc[-1:]
        expected = np.mean(rows.get_group(place)["probability"].tolist(), axis=0)
        np.testing.assert_allclose(curve, expected, atol=1e-6)
        assert area == pytest.approx(np.trapezoid(expected, dx=1 / STEPS), abs=1e-6)
    assert (means["n_sequences"] == 5).all()
    assert_ordered(means["low"], means["mean"], means["high"])


def test_curves_are_drawn_of_so_many_of_the_kept_images(model, curves_run, monkeypatch):
    monkeypatch.setattr(passes, "TOKENS", 2 * 13 + 5)  # images of 13 tokens
    for chosen, drawn in (({}, {0, 2}), ({"kept": frozenset({1, 4})}, {1, 4})):
        rows = rows_of(SEQUENCE_PERTURBATION, model, curves_run[1], *range(5), **chosen)
        assert set(rows["seq"]) == drawn
    for chosen in ({"kept": frozenset()}, {"classification": None}):
        assert rows_of(SEQUENCE_PERTURBATION, model, curves_run[1], 0, **chosen).empty
    assert rows_of(CLASS_PREDICTION, model, curves_run[1], 0, classification=None).empty
    assert evenly_spaced(range(100), 4) == {0, 25, 50, 75}
