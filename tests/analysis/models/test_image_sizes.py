"""Positions that fit the images or are interpolated to them, and scales that are weights."""

import json

import pytest
import torch

from analysis.errors import UnfitModel
from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.models.images import fit_to_images, layout_of
from analysis.models.reading import read_model
from tests.refusals import refused
from tests.tiny_vision import COLUMNS, PATCH, ROWS, image_sequences, tiny_vision_model
from tests.tracing import traced_layers


def test_positions_of_dinov2_are_the_models_own_interpolation():
    tiny = tiny_vision_model("dinov2")
    assert tiny.image_reader.layout.learned == (4, 4)
    embedding = tiny.weights.position_embedding
    assert embedding is not None
    learned = tiny.model.embeddings.position_embeddings[0]
    assert len(learned) == 17
    assert len(embedding) == 13
    torch.testing.assert_close(embedding[0], learned[0])
    fit_to_images(tiny.model, (16, 16))
    fitted, layout = tiny.weights.position_embedding, layout_of(tiny.model)
    assert fitted is not None
    assert layout is not None
    assert torch.equal(fitted, learned)
    assert layout.learned is None


def test_a_size_that_positions_were_not_learned_for_is_refused():
    tiny = tiny_vision_model("vit")
    assert refused(UnfitModel, fit_to_images, tiny.model, (16, 16)) == (
        "The model's positions were learned for images of 12 × 16 pixels (height × width), and its "
        "image processor makes 16 × 16. Make `size` or `crop_size` in preprocessor_config.json "
        "agree with `image_size` in config.json."
    )


def test_a_size_that_patches_do_not_fill_is_refused():
    tiny = tiny_vision_model("dinov2")
    with pytest.raises(UnfitModel, match=r"makes images of 14 × 16 pixels .* patches of 4 × 4 do"):
        fit_to_images(tiny.model, (14, 16))


def test_a_dinov2_whose_positions_are_no_square_is_refused():
    tiny = tiny_vision_model("dinov2")
    tiny.model.embeddings.patch_embeddings.image_size = [8, 32]
    with pytest.raises(UnfitModel, match="makes 2 × 8 patches, and its positions are inter"):
        fit_to_images(tiny.model, (8, 32))


def test_what_a_processor_is_set_to_is_told():
    settings = json.loads(tiny_vision_model("dinov2").image_reader.settings)
    assert settings["crop_size"] == {"height": ROWS * PATCH, "width": COLUMNS * PATCH}


def test_the_gated_networks_of_the_giant_dinov2_are_the_sum_of_their_parts():
    tiny, images = tiny_vision_model("dinov2"), image_sequences("dinov2", 2)
    square = {"use_swiglu_ffn": True, "image_size": COLUMNS * PATCH}
    settings = tiny.model.config.to_dict() | square
    torch.manual_seed(0)
    config = type(tiny.model.config)(**settings, attn_implementation="eager")
    model = type(tiny.model)(config).double().eval()
    fit_to_images(model, (ROWS * PATCH, COLUMNS * PATCH))
    layers = read_model(model).layers
    assert {weights.feed_forward.activation for weights in layers} == {"silu"}
    traced = traced_layers(model, tiny.inputs(images), layers)
    for row, image in enumerate(images):
        for layer in traced:
            assert layer_mixing(layer.of_sequence(row, len(image))).errors.max() < 1e-12
