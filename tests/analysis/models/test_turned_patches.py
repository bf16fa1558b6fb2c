"""Rotation of patches by their rows and columns: the tokens concerned, and their angles."""

import pytest
import torch

from analysis.models.images import fit_to_images
from analysis.models.reading import read_model
from analysis.models.rotary import PatchRotary
from precompute.models.loaded_model import LoadedModel
from tests.tiny_vision import COLUMNS, PATCH, ROWS, tiny_vision_model
from tests.tracing import traced_layers

FAMILY, N_SPECIAL = "dinov3_vit", 3


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return tiny_vision_model(FAMILY)


def _places(count: int) -> list[float]:
    """The middles of rows or columns, from −1 to 1."""
    return [(2 * place + 1) / count - 1 for place in range(count)]


def test_every_patch_is_turned_by_its_row_and_its_column_and_nothing_else_is(model):
    head_width = model.layers[0].key_weight.shape[-1]
    quarter = head_width // 4
    waves = [100 ** (-4 * c / head_width) for c in range(quarter)]
    expected = [[0.0] * (2 * quarter)] * N_SPECIAL + [
        [2 * torch.pi * place * wave for place in (row, column) for wave in waves]
        for row in _places(ROWS)
        for column in _places(COLUMNS)
    ]
    rotary = model.layers[0].rotary
    angles = rotary.angles(N_SPECIAL + ROWS * COLUMNS, torch.zeros((), dtype=torch.float64))
    turned, wanted = (
        torch.polar(torch.ones_like(angle), angle) for angle in (angles, _wide(expected))
    )
    torch.testing.assert_close(turned, wanted, rtol=1e-6, atol=1e-6)  # the model's are in float32


def _wide(values: list[list[float]]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_images_of_another_size_are_turned_by_their_own_rows_and_columns():
    tiny = tiny_vision_model(FAMILY)
    fit_to_images(tiny.model, (2 * PATCH, 3 * PATCH))
    layers = read_model(tiny.model).layers
    pixels = torch.randn(1, 3, 2 * PATCH, 3 * PATCH, generator=torch.Generator().manual_seed(0))
    inputs = {"pixel_values": pixels.double()}
    traced = traced_layers(tiny.model, inputs, layers)
    tiny.model.set_attn_implementation("eager")
    attentions = tiny.model(**inputs, output_attentions=True).attentions
    for layer, attention in zip(traced, attentions, strict=True):
        made = layer.weights.scores(layer.attention_input).softmax(dim=-1)
        torch.testing.assert_close(made, attention, rtol=1e-5, atol=1e-6)
    rotary = layers[0].rotary
    assert isinstance(rotary, PatchRotary)
    assert rotary.of_patches.shape == (6, 4)


def test_a_plain_network_is_read_by_its_names():
    tiny = tiny_vision_model(FAMILY)
    config = type(tiny.model.config)(
        **tiny.model.config.to_dict() | {"use_gated_mlp": False, "hidden_act": "gelu"}
    )
    torch.manual_seed(0)
    plain = type(tiny.model)(config).double().eval()
    (first, *_) = read_model(plain).layers
    assert first.feed_forward.gate_weight is None
    assert first.feed_forward.activation == "gelu"
    assert torch.equal(first.feed_forward.input_weight, plain.model.layer[0].mlp.up_proj.weight.T)
