"""Settings of a configuration: those that are read as the model runs them, and those refused."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers
from torch import nn

from analysis.errors import UnfitModel
from analysis.models.capture import change_output
from analysis.models.finding.find import in_float64
from analysis.models.finding.probe import trial
from analysis.models.images import fit_to_images
from analysis.models.places import longest_of
from analysis.models.proof import PARTS, prove
from analysis.models.reading import Reading, random_inputs, read_model
from tests.analysis.models.every_type import tiny_type
from tests.refusals import refused
from tests.tiny import tiny_model
from tests.tiny_decoders import EAGER, make_exact
from tests.tiny_vision import tiny_vision_model

BERT: dict[str, Any] = {
    "vocab_size": 30,
    "hidden_size": 12,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 40,
    **EAGER,
}
MINISTRAL = {
    "rope_type": "default",
    "rope_theta": 100.0,
    "llama_4_scaling_beta": 0.1,
    "original_max_position_embeddings": 30,
}
GPT2: dict[str, Any] = {"vocab_size": 30, "n_embd": 12, "n_head": 2, "n_layer": 2, **EAGER}


def read(config: transformers.PreTrainedConfig) -> Reading:
    """Return the reading of a model with random weights of a configuration, after its proof."""
    torch.manual_seed(0)
    model: Any = transformers.AutoModel.from_config(config).eval().double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    make_exact(model)
    reading = read_model(model)
    proof = prove(model, reading.parts, reading.layers, reading.inputs(random_inputs(model)))
    assert max(map(proof.worst, PARTS)) < 1e-5
    return reading


def test_a_bert_that_is_a_decoder_is_read_as_causal():
    layers = read(transformers.BertConfig(**BERT, is_decoder=True)).layers
    assert all(layer.is_causal for layer in layers)
    assert not any(layer.is_causal for layer in read(transformers.BertConfig(**BERT)).layers)


@pytest.mark.parametrize(
    ("setting", "scales"),
    [
        ({}, [6**-0.5, 6**-0.5]),
        ({"scale_attn_weights": False}, [1, 1]),
        ({"scale_attn_by_inverse_layer_idx": True}, [6**-0.5, 6**-0.5 / 2]),
    ],
    ids=["as usual", "none", "by layer"],
)
def test_the_scale_of_scores_is_that_of_the_layer(setting, scales):
    layers = read(transformers.GPT2Config(**GPT2, **setting)).layers
    assert [layer.score_scale for layer in layers] == pytest.approx(scales)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("gelu", "gelu"),
        ("gelu_new", "gelu_tanh"),
        ("gelu_pytorch_tanh", "gelu_tanh"),
        ("quick_gelu", "quick_gelu"),
        ("relu", "relu"),
        ("relu2", "relu_squared"),
        ("silu", "silu"),
        ("swish", "silu"),
        ("tanh", "tanh"),
    ],
)
def test_the_activation_is_the_one_that_the_model_uses(given, wanted):
    layers = read(transformers.BertConfig(**BERT, hidden_act=given)).layers
    assert {layer.feed_forward.activation for layer in layers} == {wanted}


_ACTIVATIONS: dict[str, Callable[[Any], tuple[Any, str]]] = {
    "bert": lambda model: (model.encoder.layer[1].intermediate, "intermediate_act_fn"),
    "gpt2": lambda model: (model.h[1].mlp, "act"),
    "llama": lambda model: (model.layers[1].mlp, "act_fn"),
    "olmo2": lambda model: (model.layers[1].mlp, "act_fn"),
}
"""Path to the activation of the second layer of a family."""


@pytest.mark.parametrize("family", _ACTIVATIONS)
def test_an_activation_that_is_not_known_is_refused(family):
    model = tiny_model(family).model
    place, name = _ACTIVATIONS[family](model)
    setattr(place, name, nn.Mish())
    kind = "Conv1D" if family == "gpt2" else "Linear"
    assert refused(UnfitModel, read_model, model) == (
        f"{kind}: the network's hidden layer is made in no way that is known: by gelu, gelu_tanh, "
        "quick_gelu, relu, relu_squared, silu, tanh, with gates or without."
    )


@pytest.mark.parametrize(("chosen", "longest"), [(2048, 64), (20, 20)])
def test_texts_are_no_longer_than_the_keys_that_queries_choose(chosen, longest, monkeypatch):
    model = tiny_type("deepseek_v32")
    monkeypatch.setattr(model.config, "index_topk", chosen)
    assert read_model(model).places.longest == longest


@pytest.mark.parametrize("kind", ["dynamic", "longrope"])
def test_rotations_that_depend_on_the_length_of_a_text_are_refused(kind, monkeypatch):
    model = tiny_model("llama").model
    monkeypatch.setattr(model.config, "rope_parameters", {"rope_type": kind})
    assert refused(UnfitModel, read_model, model) == (
        f"The model's rope_type is '{kind}'; covered are default, linear, llama3, yarn, "
        "proportional, whose frequencies are the same for texts of any length."
    )


@pytest.mark.parametrize("family", ["vit", "dinov2_with_registers"])
def test_images_that_patches_do_not_fill_are_refused(family, monkeypatch):
    model = tiny_vision_model(family).model
    monkeypatch.setattr(model.config, "image_size", [13, 16])
    assert refused(UnfitModel, fit_to_images, model, (13, 16)) == (
        "The model's images are 13 × 16 pixels (height × width), which patches of 4 × 4 do not "
        "fill. Covered is an image_size of whole patches."
    )


def test_a_convolution_beside_the_first_layer_is_refused(monkeypatch):
    model = tiny_model("deberta-v2").model
    monkeypatch.setattr(model.config, "conv_kernel_size", 3, raising=False)
    assert refused(UnfitModel, read_model, model) == (
        "The model's conv_kernel_size is 3: a convolution mixes neighbouring tokens beside the "
        "first layer. Covered is 0, as in DeBERTa 3."
    )


def test_heads_that_mix_each_other_s_weights_are_refused(monkeypatch):
    model = tiny_type("deberta")
    monkeypatch.setattr(model.config, "talking_head", True, raising=False)
    assert refused(UnfitModel, read_model, model) == (
        "The model's talking_head is true: its heads mix each other's attention weights. Covered "
        "is false, as in DeBERTa 1 as it was published."
    )


@pytest.mark.parametrize("kinds", [["c2p"], ["p2c"], ["c2p", "p2c"], []])
@pytest.mark.parametrize("steps", [-1, 4])
def test_deberta_is_read_with_any_of_its_terms(kinds, steps):
    options: dict[str, Any] = {
        "relative_attention": True,
        "pos_att_type": kinds,
        "max_relative_positions": steps,
    }
    layers = read(transformers.DebertaConfig(**BERT, **options)).layers
    assert all((layer.offset_terms is None) == (not kinds) for layer in layers)


@pytest.mark.parametrize("n_class", [1, 3])
@pytest.mark.parametrize("n_registers", [0, 2])
def test_an_image_may_have_several_class_tokens(n_class, n_registers):
    sizes: dict[str, Any] = {
        "hidden_size": 12,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 8,
        "patch_size": 4,
        "max_img_size": 16,
    }
    counts = {"num_cls_tokens": n_class, "num_registers": n_registers, "summary_idxs": [0]}
    layout = read(transformers.RadioConfig(**sizes, **counts, **EAGER)).layout
    class_tokens = ("[CLS]", "[CLS2]", "[CLS3]")[:n_class]
    assert layout is not None
    assert layout.special == (*class_tokens, *("[REG1]", "[REG2]")[:n_registers])


def test_positions_of_radio_fit_the_images():
    model = tiny_type("radio")
    fit_to_images(model, (20, 20))
    vectors = read_model(model).places.embedding
    assert vectors is not None
    assert vectors.shape == (5 * 5, 32)
    assert refused(UnfitModel, fit_to_images, model, (12, 8)) == (
        "The model's image processor makes images of 12 × 8 pixels (height × width), and its "
        "config.json takes square ones alone. Give a square `crop_size` or `size` in "
        "preprocessor_config.json."
    )


@pytest.mark.parametrize("family", ["olmo", "olmoe", "mpt"])
def test_queries_that_are_cut_off_are_refused_though_none_of_the_trial_is(family):
    model = tiny_type(family)
    getattr(model.config, "attn_config", model.config).clip_qkv = 1e6
    assert refused(UnfitModel, read_model, model) == (
        "The model's clip_qkv is 1000000.0: queries, keys and values beyond it are cut off, so "
        "that they are no longer made by a matrix. Covered is null."
    )


def test_a_layer_of_two_that_is_run_again_is_read_as_more_layers():
    sizes: dict[str, Any] = BERT | {"embedding_size": 6}
    layers = read(transformers.AlbertConfig(**sizes, inner_group_num=2, num_hidden_groups=1)).layers
    assert [layer.number for layer in layers] == [1, 2, 3, 4]


def test_an_error_of_the_library_is_one_sentence_with_the_settings_of_its_sizes():
    model = tiny_type("deepseek_v3", qk_rope_head_dim=6, head_dim=14, qk_nope_head_dim=10)
    said = refused(UnfitModel, read_model, model)
    assert said.startswith(
        "DeepseekV3Model cannot be read: models are first run on random token ids alone, in "
        "float64, and it stops in DeepseekV3Attention: "
    )
    assert "Settings of that name or size: " in said
    assert "qk_rope_head_dim = 6" in said


def test_in_a_trial_errors_of_the_library_are_refusals_and_ours_are_not():
    model = tiny_type("gpt2")
    model.config.reorder_and_upcast_attn = True
    for block in model.h:
        block.attn.reorder_and_upcast_attn = True
    ids = random_inputs(model)["input_ids"]
    with in_float64(model):
        with pytest.raises(UnfitModel) as caught, trial(model):
            model(ids)
        assert "stops in GPT2Attention: Error with upcasting, attn_weights" in str(caught.value)
        with pytest.raises(RuntimeError, match="shapes cannot be"), trial(model):
            torch.matmul(torch.ones(2, 3), torch.ones(2, 3))
        for block in model.h:
            block.attn.reorder_and_upcast_attn = False
        with pytest.raises(ZeroDivisionError), trial(model), change_output(model.h[0], _fault):
            model(ids.new_tensor([[5]]))


def _fault(_output: Any) -> Any:
    return 1 / 0


def test_a_model_that_puts_other_modules_in_place_is_refused():
    model = tiny_type("big_bird", attention_type="block_sparse")
    before = [*model.modules()]
    said = refused(UnfitModel, read_model, model)
    assert said == "BigBirdModel puts other modules in place as it runs."
    assert [*model.modules()] == before
    assert model.attention_type == "block_sparse"
    assert model.config.attention_type == "block_sparse"


@pytest.mark.parametrize(
    ("family", "settings", "longest"),
    [
        ("big_bird", {"block_size": 2, "num_random_blocks": 1}, 14),
        ("ministral3", {"rope_parameters": MINISTRAL}, 30),
        ("deepseek_v32", {"index_topk": 20}, 20),
    ],
)
def test_texts_are_no_longer_than_those_that_are_read_as_the_trial(family, settings, longest):
    config = tiny_type(family).config
    for name, value in settings.items():
        setattr(config, name, value)
    if family == "big_bird":
        config.attention_type = "block_sparse"
    assert longest_of(config) == longest
