"""Laws of tiny models of families, of routers, and of models with massive activations."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from analysis.error_limits import LIMITS
from analysis.errors import UnfitModel
from analysis.measures.mixing.completeness import attention_block_errors
from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.positions.query_key_error import relative_errors as query_key_error
from analysis.models import attention
from analysis.models.images import fit_to_images, layout_of
from analysis.models.router import Router
from analysis.models.trace import LayerTrace
from analysis.token_types import TOKEN_TYPES
from precompute.corpora.sequence import Sequence
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import batch_of
from precompute.passes.relevance import start_weights
from tests.massive import FAULTS, SIZE, massive_model
from tests.tiny import tiny_sequences
from tests.tiny_vision import COLUMNS, HEADS, ROWS, TINY_VISION, image_sequences, tiny_vision_model
from tests.tracing import trace_of


def test_attention_with_an_unknown_term_is_refused_when_a_model_is_loaded(tiny, monkeypatch):
    tiny.proved()
    if not attention.attends_by_interface(tiny.model):
        return  # its own code computes the weights
    plain = attention._weights

    def changed(query, key, **terms):
        return plain(query, key, **terms | {"scaling": 1.01 * terms["scaling"]})

    monkeypatch.setattr(attention, "_weights", changed)
    with pytest.raises(UnfitModel, match="Attention weights of layer 1 differ from those of"):
        tiny.proved()


class _Gate(torch.nn.Module):
    """Logits, then shares and indices of the two likeliest experts, as the library returns them."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.eye(3, dtype=torch.float64))

    def forward(self, read):
        logits = read @ self.weight
        return logits, *logits.softmax(dim=-1).topk(2, dim=-1)


def test_only_the_chosen_experts_have_a_share_and_those_that_all_tokens_share_that_of_their_gate():
    read = torch.tensor([[[0.0, 1.0, 3.0]]], dtype=torch.float64)
    _, *likely = read[0, 0].softmax(dim=0).tolist()
    gate = torch.nn.Linear(3, 1, bias=False).double()
    for shared_gate, share in ((None, 1.0), (gate, gate(read).sigmoid().item())):
        router = Router(_Gate(), n_experts=3, n_shared=2, shared_gate=shared_gate)
        assert router.of_units(read, 5)[0, 0].tolist() == pytest.approx([0, *likely, share, share])


CASES = (
    ("bert", "first", torch.float32),
    ("gpt2", "first", torch.bfloat16),
    ("llama", "every", torch.bfloat16),
    ("gemma2", "first", torch.float32),
    ("gpt_neox", "first", torch.bfloat16),
    ("dinov2", "every", torch.float32),
)
"""Layers in every order, and every place in both formats."""


@pytest.mark.parametrize(("name", "place", "dtype"), CASES, ids=[case[0] for case in CASES])
def test_every_misreading_is_seen_and_a_right_reading_passes(name, place, dtype):
    """In two sequences; DINOv2 spreads a position over its neighbours."""
    model, limit = massive_model(name, place, dtype=dtype), LIMITS[str(dtype).rpartition(".")[2]]
    traces = (trace_of(model, [sequence]) for sequence in tiny_sequences(name)[:2])
    layers = [layer for trace in traces for layer in trace.layers]
    assert max(layer.input.abs().max() for layer in layers) > SIZE / 2
    assert _worst(layers, dtype) < limit
    for layer in (trace for trace in layers if trace.weights.rotary is None):
        assert query_key_error(layer, dtype).max() < limit
    for fault, plant in FAULTS.items():
        if name != "gemma2" or "bias of the network" not in fault:  # which it does not have
            misread = [replace(layer, weights=plant(layer.weights)) for layer in layers]
            assert _worst(misread, dtype) > limit, fault


def _worst(layers: list[LayerTrace], dtype: torch.dtype) -> float:
    errors = []
    for layer in layers:
        is_token = torch.ones(layer.output.shape[:2], dtype=torch.bool)
        block = attention_block_errors(layer, is_token, dtype)
        errors += [block, layer_mixing(layer, dtype=dtype).errors]
    return max(error.max().item() for error in errors)


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


@pytest.mark.parametrize("model", ["vit", "dinov2"], indirect=True)
def test_gradients_are_what_the_logit_of_the_class_does(model, images, monkeypatch):
    """In the number format of the model; most families compute attention in float32."""
    softmax, image = torch.nn.functional.softmax, images[0]
    monkeypatch.setattr(torch.nn.functional, "softmax", lambda of, dim, **_: softmax(of, dim))
    gradients = model.classification.gradients([image])
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
