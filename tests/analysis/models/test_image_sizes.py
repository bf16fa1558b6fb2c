"""Positions that fit the images or are interpolated to them, and scales that are weights."""

import json

import pytest
import torch

from analysis.errors import UnfitModel
from analysis.measures.mixing.layer_mixing import layer_mixing
from tests.refusals import refused
from tests.tiny_vision import COLUMNS, HEADS, PATCH, ROWS, image_sequences, tiny_vision_model


def test_positions_of_dinov2_are_the_models_own_interpolation():
    told = tiny_vision_model("dinov2")
    assert told.image_reader.layout.learned == (4, 4)
    embedding = told.weights.position_embedding
    assert embedding is not None
    learned = told.model.embeddings.position_embeddings[0]
    assert len(learned) == 17
    assert len(embedding) == 13
    torch.testing.assert_close(embedding[0], learned[0])
    told.adapter.fit_to_images(told.model, (16, 16))
    whole, layout = told.weights.position_embedding, told.adapter.layout(told.model)
    assert whole is not None
    assert layout is not None
    assert torch.equal(whole, learned)
    assert layout.learned is None


def test_a_size_that_positions_were_not_learned_for_is_refused():
    told = tiny_vision_model("vit")
    assert refused(UnfitModel, told.adapter.fit_to_images, told.model, (16, 16)) == (
        "The model's positions were learned for images of 12 × 16 pixels (height × width), and its "
        "image processor makes 16 × 16. Make `size` or `crop_size` in preprocessor_config.json "
        "agree with `image_size` in config.json."
    )


def test_a_size_that_patches_do_not_fill_is_refused():
    told = tiny_vision_model("dinov2")
    with pytest.raises(UnfitModel, match=r"makes images of 14 × 16 pixels .* patches of 4 × 4 do"):
        told.adapter.fit_to_images(told.model, (14, 16))


def test_a_dinov2_whose_positions_are_no_square_is_refused():
    told = tiny_vision_model("dinov2")
    told.model.embeddings.patch_embeddings.image_size = [8, 32]
    with pytest.raises(UnfitModel, match="makes 2 × 8 patches, and a DINOv2 interpolates"):
        told.adapter.check(told.model)


def test_layer_scales_are_in_the_output_weights():
    told = tiny_vision_model("dinov2")
    layer, scaled = told.model.encoder.layer[0], told.layers[0]
    plain = layer.attention.o_proj.weight.T.unflatten(0, (HEADS, -1))
    torch.testing.assert_close(scaled.output_weight, plain * layer.layer_scale1.lambda1)
    assert not torch.allclose(scaled.output_weight, plain)
    network = layer.mlp.fc2
    torch.testing.assert_close(
        scaled.feed_forward.output_bias, network.bias * layer.layer_scale2.lambda1
    )


def test_what_a_processor_is_set_to_is_told():
    told = json.loads(tiny_vision_model("dinov2").image_reader.settings)
    assert told["crop_size"] == {"height": ROWS * PATCH, "width": COLUMNS * PATCH}


def test_the_gated_networks_of_the_giant_dinov2_are_the_sum_of_their_parts():
    told, images = tiny_vision_model("dinov2"), image_sequences("dinov2", 2)
    square = {"use_swiglu_ffn": True, "image_size": COLUMNS * PATCH}
    settings = told.model.config.to_dict() | square
    torch.manual_seed(0)
    config = type(told.model.config)(**settings, attn_implementation="eager")
    model = type(told.model)(config).double().eval()
    told.adapter.check(model)
    told.adapter.fit_to_images(model, (ROWS * PATCH, COLUMNS * PATCH))
    layers = told.adapter.weights(model)
    assert {each.feed_forward.activation for each in layers} == {"silu"}
    trace = told.adapter.trace(model, layers, told.inputs(images))
    for row, image in enumerate(images):
        for layer in trace.layers:
            assert layer_mixing(layer.of_sequence(row, len(image))).errors.max() < 1e-12
