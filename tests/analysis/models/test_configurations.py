"""Settings of a configuration: what each is read as, which is proved, and those refused."""

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
from analysis.models.offset_terms import OffsetTerms
from analysis.models.places import longest_of
from analysis.models.proof import PARTS, prove
from analysis.models.reading import random_inputs, read_model
from analysis.models.trace import in_dtype
from tests.analysis.models.every_type import tiny_type
from tests.refusals import refused
from tests.tiny import tiny_model
from tests.tiny_decoders import EAGER, make_exact
from tests.tiny_vision import tiny_vision_model

SIZES: dict[str, Any] = {"hidden_size": 12, "intermediate_size": 24, **EAGER}
SIZES |= {"num_hidden_layers": 2, "num_attention_heads": 2}
BERT: dict[str, Any] = SIZES | {"vocab_size": 30, "max_position_embeddings": 40}
GPT2: dict[str, Any] = {"vocab_size": 30, "n_embd": 12, "n_head": 2, "n_layer": 2, **EAGER}
DECODER: dict[str, Any] = SIZES | {"vocab_size": 30, "pad_token_id": None}
YARN: dict[str, Any] = {"rope_theta": 50.0, "rope_type": "yarn", "factor": 4.0}
YARN |= {"original_max_position_embeddings": 8}
DEBERTA: dict[str, Any] = BERT | {"relative_attention": True, "position_buckets": 4}
DEBERTA |= {"pos_att_type": ["c2p", "p2c"], "share_att_key": True}
T5: dict[str, Any] = {"vocab_size": 30, "d_model": 12, "d_kv": 5, "d_ff": 24, "num_layers": 2}
T5 |= {"num_heads": 3, **EAGER}
RADIO: dict[str, Any] = SIZES | {"image_size": 8, "patch_size": 4, "max_img_size": 16}
RADIO |= {"summary_idxs": [0]}
IMAGES: dict[str, Any] = SIZES | {"hidden_size": 16, "image_size": 16, "patch_size": 4}
N_TOKENS = {"t5": 300, "deberta-v2": 40}
"""Texts as long as the distances with tables of their own, and longer."""
READ: dict[str, tuple[str, dict[str, Any]]] = {
    "BERT as a decoder": ("BertConfig", BERT | {"is_decoder": True}),
    "a layer of two that is run again": (
        "AlbertConfig",
        BERT | {"embedding_size": 6, "inner_group_num": 2, "num_hidden_groups": 1},
    ),
    "scores without a scale": ("GPT2Config", GPT2 | {"scale_attn_weights": False}),
    "scores by layer": ("GPT2Config", GPT2 | {"scale_attn_by_inverse_layer_idx": True}),
    **{
        f"the activation {name}": ("BertConfig", BERT | {"hidden_act": name})
        for name in ("gelu", "gelu_new", "quick_gelu", "relu", "relu2", "swish", "tanh")
    },
    "DeBERTa with terms of keys": (
        "DebertaConfig",
        BERT | {"relative_attention": True, "pos_att_type": ["c2p"], "max_relative_positions": -1},
    ),
    "DeBERTa with terms of queries": (
        "DebertaConfig",
        BERT | {"relative_attention": True, "pos_att_type": ["p2c"], "max_relative_positions": 4},
    ),
    **{
        f"DeBERTa 2 with {what}": ("DebertaV2Config", DEBERTA | changed)
        for what, changed in {
            "tables of their own": {"share_att_key": False},
            "every distance": {"position_buckets": -1},
            "clipped distances": {"position_buckets": -1, "max_relative_positions": 6},
            "a norm of steps": {"norm_rel_ebd": "layer_norm", "pos_att_type": ["p2c"]},
            "no table": {"pos_att_type": []},
        }.items()
    },
    "T5 of few steps": ("T5Config", T5 | {"relative_attention_num_buckets": 8}),
    "Mistral as an encoder": (
        "MistralConfig",
        DECODER | {"is_causal": False, "num_key_value_heads": 1, "sliding_window": 3},
    ),
    "stretched rotation": ("LlamaConfig", DECODER | {"rope_parameters": YARN}),
    "one block after the other": ("GPTNeoXConfig", DECODER | {"use_parallel_residual": False}),
    "class tokens and registers": (
        "RadioConfig",
        RADIO | {"num_cls_tokens": 3, "num_registers": 2},
    ),
    "the gates of the giant DINOv2": ("Dinov2Config", IMAGES | {"use_swiglu_ffn": True}),
}


@pytest.mark.parametrize("name", READ)
def test_a_configuration_is_read_as_the_model_runs_it(name):
    kind, settings = READ[name]
    torch.manual_seed(0)
    config: Any = getattr(transformers, kind)(**settings)
    of_t5 = config.model_type == "t5"
    make: Any = transformers.T5EncoderModel if of_t5 else transformers.AutoModel.from_config
    model = make(config).eval().double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    make_exact(model)
    reading = read_model(model)
    given = random_inputs(model, n_tokens=N_TOKENS.get(config.model_type))
    proof = prove(model, reading.parts, reading.layers, reading.inputs(given))
    assert max(map(proof.worst, PARTS)) < 1e-5
    if reading.layout is not None and kind == "RadioConfig":
        assert reading.layout.special == ("[CLS]", "[CLS2]", "[CLS3]", "[REG1]", "[REG2]")


def test_what_is_further_than_the_reach_of_tables_is_as_far_as_that():
    terms = OffsetTerms(torch.tensor([4, 3, 0, 1, 2]), bias=torch.arange(15.0).view(3, 5))
    offsets = torch.tensor([-9, -2, -1, 0, 1, 2, 9])
    assert terms.bucket_of(offsets).tolist() == [4, 4, 3, 0, 1, 2, 2]
    assert in_dtype(terms, torch.bfloat16).buckets.dtype == torch.int64


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "rotations that depend on the length": (
        "llama", {"rope_parameters": {"rope_type": "dynamic"}},
        "The model's rope_type is 'dynamic'; covered are default, linear, llama3, yarn, "
        "proportional, whose frequencies are the same for texts of any length.",
    ),
    "a convolution": (
        "deberta-v2", {"conv_kernel_size": 3},
        "The model's conv_kernel_size is 3: a convolution mixes neighbouring tokens beside the "
        "first layer. Covered is 0, as in DeBERTa 3.",
    ),
    "heads that mix each other's weights": (
        "deberta", {"talking_head": True},
        "The model's talking_head is true: its heads mix each other's attention weights. Covered "
        "is false, as in DeBERTa 1 as it was published.",
    ),
    "queries that are cut off by a part": (
        "mpt", {"attn_config.clip_qkv": 1e6},
        "The model's clip_qkv is 1000000.0: queries, keys and values beyond it are cut off, so "
        "that they are no longer made by a matrix. Covered is null.",
    ),
    "layers that are never run": (
        "llama", {"num_hidden_layers": 2},
        "LlamaModel: of its 3 layers some are never run.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_setting_that_is_not_covered_is_refused_though_the_trial_does_not_show_it(name):
    family, settings, message = REFUSED[name]
    model = tiny_type(family)
    for path, value in settings.items():
        *part, setting = path.split(".")
        setattr(getattr(model.config, part[0]) if part else model.config, setting, value)
    assert refused(UnfitModel, read_model, model) == message


def test_an_activation_that_is_not_known_is_refused():
    model = tiny_model("gpt2").model
    model.h[1].mlp.act = nn.Mish()
    assert refused(UnfitModel, read_model, model) == (
        "Conv1D: the network's hidden layer is made in no way that is known: by gelu, gelu_tanh, "
        "quick_gelu, relu, relu_squared, silu, tanh, with gates or without."
    )


@pytest.mark.parametrize(
    ("family", "size", "message"),
    [
        (
            "vit", (13, 16),
            "The model's images are 13 × 16 pixels (height × width), which patches of 4 × 4 do not "
            "fill. Covered is an image_size of whole patches.",
        ),
        (
            "vit", (16, 16),
            "The model's positions were learned for images of 12 × 16 pixels (height × width), and "
            "its image processor makes 16 × 16. Make `size` or `crop_size` in "
            "preprocessor_config.json agree with `image_size` in config.json.",
        ),
        (
            "dinov2", (14, 16),
            "The model's image processor makes images of 14 × 16 pixels (height × width), which "
            "patches of 4 × 4 do not fill. Give multiples of these as `crop_size` or `size` in "
            "preprocessor_config.json.",
        ),
        (
            "radio", (12, 8),
            "The model's image processor makes images of 12 × 8 pixels (height × width), and its "
            "config.json takes square ones alone. Give a square `crop_size` or `size` in "
            "preprocessor_config.json.",
        ),
    ],
)  # fmt: skip
def test_images_that_do_not_fit_the_patches_are_refused(family, size, message):
    model = tiny_type("radio") if family == "radio" else tiny_vision_model(family).model
    if family == "vit" and size[0] % 4:
        model.config.image_size = [*size]
    assert refused(UnfitModel, fit_to_images, model, size) == message


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
    for block in model.h:
        block.attn.reorder_and_upcast_attn = True
    ids = random_inputs(model)["input_ids"]
    with in_float64(model):
        with pytest.raises(UnfitModel, match="stops in GPT2Attention: Error with"), trial(model):
            model(ids)
        with pytest.raises(RuntimeError, match="shapes cannot be"), trial(model):
            torch.matmul(torch.ones(2, 3), torch.ones(2, 3))
        for block in model.h:
            block.attn.reorder_and_upcast_attn = False
        fault = change_output(model.h[0], lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError), trial(model), fault:
            model(ids.new_tensor([[5]]))


def test_a_model_that_puts_other_modules_in_place_is_refused_and_left_as_it_was():
    model = tiny_type("big_bird", attention_type="block_sparse")
    before = [*model.modules()]
    said = refused(UnfitModel, read_model, model)
    assert said == "BigBirdModel puts other modules in place as it runs."
    assert [*model.modules()] == before
    assert model.attention_type == model.config.attention_type == "block_sparse"


@pytest.mark.parametrize(
    ("family", "settings", "longest"),
    [
        (
            "big_bird",
            {"attention_type": "block_sparse", "block_size": 2, "num_random_blocks": 1}, 14,
        ),
        (
            "ministral3",
            {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0,
             "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 30}}, 30,
        ),
        ("deepseek_v32", {"index_topk": 20}, 20),
    ],
)  # fmt: skip
def test_texts_are_no_longer_than_those_that_are_read_as_the_trial(family, settings, longest):
    config = tiny_type(family).config
    for name, value in settings.items():
        setattr(config, name, value)
    assert longest_of(config) == longest
