"""Laws of every family that reads images, including those that other tests leave out."""

from functools import partial

import numpy as np
import pytest
import torch

from analysis.models.images import fit_to_images, layout_of
from analysis.token_types import TOKEN_TYPES
from precompute.corpora.sequence import Sequence
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import batch_of
from precompute.passes.relevance import start_weights
from tests.tiny_vision import (
    COLUMNS,
    HEADS,
    ROWS,
    TINY_VISION,
    image_sequences,
    tiny_vision_model,
)

SPECIAL = {
    "vit": ["[CLS]"],
    "deit": ["[CLS]", "[DIST]"],
    "vit_msn": ["[CLS]"],
    "ijepa": [],
    "dinov2": ["[CLS]"],
    "dinov2_with_registers": ["[CLS]", "[REG1]", "[REG2]", "[REG3]", "[REG4]"],
    "dinov3_vit": ["[CLS]", "[REG1]", "[REG2]"],
}
STARTS = {"deit": ("cls_and_distillation", [0.5, 0.5]), "ijepa": ("patches", [1 / 12] * 12)}


@pytest.fixture(scope="module", params=TINY_VISION)
def model(request) -> LoadedModel:
    return tiny_vision_model(request.param)


with_classes = pytest.mark.parametrize(
    "model", [name for name, tiny in TINY_VISION.items() if tiny.has_classes], indirect=True
)


@pytest.fixture(scope="module")
def images(model) -> tuple[Sequence, ...]:
    return image_sequences(model.family)


def test_special_tokens_stand_in_front_of_the_grid(model, images):
    layout = model.image_reader.layout
    assert list(layout.special) == SPECIAL[model.family]
    assert (layout.rows, layout.columns) == (ROWS, COLUMNS)
    assert images[0].tokens[len(layout.special)] == "patch 1,1"
    assert images[0].tokens[-1] == f"patch {ROWS},{COLUMNS}"
    assert model.positions == len(images[0]) == len(layout.special) + ROWS * COLUMNS
    kinds = {"[CLS]": "cls", "[DIST]": "cls"}
    for name, kind in zip(images[0].tokens, images[0].token_types, strict=True):
        expected = "register" if name.startswith("[REG") else kinds.get(name, "other")
        assert TOKEN_TYPES[kind] == expected


def test_relevance_starts_where_the_head_of_the_model_reads(model, images):
    name, weights = STARTS.get(model.family, ("cls", [1.0]))
    assert model.relevance_start == name
    for image, is_content in zip(images, batch_of(model, images).is_content, strict=True):
        start = start_weights(name, image.token_types, is_content)
        assert start is not None
        expected = weights + [0.0] * (len(start) - len(weights))
        assert start.tolist() == pytest.approx(expected)


def test_a_distilled_model_without_its_heads_starts_at_the_class_token():
    deit = tiny_vision_model("deit")
    assert LoadedModel(**{**vars(deit), "classifier": None}).relevance_start == "cls"


@with_classes
def test_a_classifier_says_what_the_whole_model_says(model, images):
    classification = model.classification
    assert classification is not None
    expected = model.classifier(**model.inputs(images)).logits.softmax(dim=-1).float()
    torch.testing.assert_close(classification.probabilities(images), expected)
    assert classification.labels == ("disc", "bar", "cross")


@pytest.fixture
def exact(monkeypatch) -> None:
    """Compute attention in the number format of the model; most families use float32."""
    softmax = torch.nn.functional.softmax
    monkeypatch.setattr(torch.nn.functional, "softmax", lambda of, dim, **_: softmax(of, dim))


def _moved(monkeypatch, model, image, *, layer: int, place: tuple[int, ...], by: float):
    """The logits of the whole model with one attention weight moved."""
    seen = []

    def instead(values, *_args, **_kwargs):
        if values.dim() == 4:  # whatever else the model drops out has no heads
            seen.append(None)
            if len(seen) - 1 == layer:
                values = values.clone()
                values[(0, *place)] += by
        return values

    with monkeypatch.context() as patched, torch.no_grad():
        patched.setattr(torch.nn.functional, "dropout", instead)
        return model.classifier(**model.inputs([image])).logits[0]


@with_classes
@pytest.mark.usefixtures("exact")
def test_gradients_are_what_the_logit_of_the_class_does(model, images, monkeypatch):
    image = images[0]
    classification = model.classification
    assert classification is not None
    gradients = classification.gradients([image])
    predicted = int(gradients.predicted[0])
    draw = np.random.default_rng(0)
    n = len(image)
    for layer, of_layer in enumerate(gradients.layers):
        for place in zip(*(draw.integers(0, size, 3) for size in (HEADS, n, n)), strict=True):
            moved = partial(_moved, monkeypatch, model, image, layer=layer, place=place)
            up, down = (moved(by=by)[predicted] for by in (1e-4, -1e-4))
            slope = float(up - down) / 2e-4
            assert float(of_layer[(0, *place)]) == pytest.approx(slope, rel=1e-4, abs=1e-7)


def test_positions_of_dinov2_are_the_models_own_interpolation():
    tiny = tiny_vision_model("dinov2")
    learned = tiny.model.embeddings.position_embeddings[0]
    assert tiny.image_reader.layout.learned == (4, 4)
    embedding = tiny.weights.position_embedding
    assert embedding is not None
    assert (len(learned), len(embedding)) == (17, 13)
    torch.testing.assert_close(embedding[0], learned[0])
    fit_to_images(tiny.model, (16, 16))
    fitted, layout = tiny.weights.position_embedding, layout_of(tiny.model)
    assert fitted is not None
    assert layout is not None
    assert torch.equal(fitted, learned)
    assert layout.learned is None
