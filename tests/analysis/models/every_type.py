"""A tiny random model of every type of model that the library can build in little memory."""

from typing import Any

import torch
import transformers
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from analysis.models.trace import Model

_WIDTH, _LAYERS, _HEADS, _HIDDEN, _TOKENS = 32, 3, 4, 48, 64
_NAMES: tuple[tuple[Any, str], ...] = (
    (
        _WIDTH,
        "hidden_size n_embd d_model dim embedding_size emb_dim word_embed_proj_dim dim_model "
        "projection_dim token_dim input_embedding_size attention_hidden_size output_embedding_size "
        "true_hidden_size intra_bottleneck_size",
    ),
    (
        _LAYERS,
        "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers "
        "encoder_num_layers num_decoder_layers num_encoder_layers",
    ),
    (
        _HEADS,
        "num_attention_heads n_head n_heads num_heads encoder_attention_heads "
        "decoder_attention_heads num_local_experts num_experts n_routed_experts moe_num_experts "
        "linear_num_key_heads linear_num_value_heads mamba_n_heads index_n_heads",
    ),
    (
        _HIDDEN,
        "intermediate_size n_inner d_ff hidden_dim ffn_dim encoder_ffn_dim decoder_ffn_dim "
        "dim_ff ffn_hidden_size block_ff_dim dense_intermediate_size",
    ),
    (_TOKENS, "max_position_embeddings n_positions n_ctx max_seq_len"),
    (
        8,
        "head_dim d_kv v_head_dim attention_head_size attention_k_channels global_head_dim "
        "dim_head qk_head_dim linear_key_head_dim linear_value_head_dim mamba_d_head "
        "index_head_dim swa_head_dim swa_v_head_dim mamba_d_state hidden_size_per_layer_input",
    ),
    (
        2,
        "num_key_value_heads type_vocab_size num_experts_per_tok eos_token_id num_registers "
        "num_key_value_groups moe_k num_global_key_value_heads swa_num_key_value_heads",
    ),
    (1, "bos_token_id n_shared_experts n_group topk_group first_k_dense_replace mamba_n_groups"),
    (0, "pad_token_id"),
    (0.0, "attention_dropout hidden_dropout hidden_dropout_prob attention_probs_dropout_prob"),
    (99, "vocab_size"),
    (
        16,
        "image_size moe_intermediate_size kv_lora_rank shared_expert_intermediate_size "
        "shared_intermediate_size moe_shared_expert_intermediate_size",
    ),
    (12, "q_lora_rank"),
    (4, "patch_size qk_rope_head_dim rotary_dim local_attention qk_nope_head_dim"),
    (3, "num_channels sliding_window"),
)
_SIZES = {name: size for size, names in _NAMES for name in names.split()}
_LARGEST = 3_000_000
"""Most weights of a model that is built."""
_MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_expand": 2}
_EXPERTS = {"ffn_hidden_size": 16, "moe_num_experts": 4, "moe_top_k": 2}
_LATENT = {"num_key_value_heads": _HEADS, "head_dim": 4}
_DISTANCES = {
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
}
_SWIN = {"embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2], "window_size": 2}
_OTHERS: dict[str, dict[str, Any]] = {
    "axk1": _LATENT,
    "bamba": _MAMBA | {"attn_layer_indices": [1]},
    "big_bird": {"attention_type": "original_full"},  # as it is loaded
    "ctrl": {"dff": _HIDDEN},
    "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 100.0}, "ffn_config": _EXPERTS},
    "deberta": _DISTANCES | {"max_relative_positions": 8},
    "deberta-v2": _DISTANCES,
    **dict.fromkeys(("deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe_lite"), _LATENT),
    "dots3_note_text": {"num_key_value_heads": _HEADS},
    "esmc": {"num_key_value_heads": _HEADS},
    "falcon_h1": _MAMBA | {"mamba_d_ssm": 64},
    "flint": {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
    "funnel": {"block_sizes": [1, 1, 1], "num_decoder_layers": 1},
    "gemma3n_text": {
        "num_kv_shared_layers": 0,
        "layer_types": ["sliding_attention"] * 2 + ["full_attention"],
        "activation_sparsity_pattern": [0.0] * _LAYERS,
        "vocab_size_per_layer_input": 99,
    },
    "gemma4_text": {"vocab_size_per_layer_input": 99},
    "gpt_neo": {"attention_types": [[["global", "local"], 1], [["global"], 1]], "window_size": 3},
    "glm_moe_dsa": _LATENT,
    "granite": {
        "residual_multiplier": 0.5,
        "attention_multiplier": 0.25,
        "embedding_multiplier": 2.0,
    },
    "granitemoehybrid": _MAMBA
    | {"layer_types": ["mamba", "attention", "mamba"], "num_local_experts": 0},
    "internvl_vision": {"image_size": [16, 16], "patch_size": [4, 4]},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "lfm2": {"layer_types": ["conv", "full_attention", "full_attention"]},
    "lfm2_moe": {
        "layer_types": ["conv", "full_attention", "full_attention"],
        "num_dense_layers": 1,
    },
    "longcat_flash": _LATENT,
    "luke": {"entity_vocab_size": 10},
    "mamba2": {"num_heads": 8, "head_dim": 8},
    "markuplm": {"max_depth": 4},
    "minicpm3": _LATENT,
    "nemotron_h": {
        "layers_block_type": ["mamba", "attention", "moe"],
        "mamba_num_heads": 8,
        "mamba_head_dim": 8,
    },
    "neomme": {"head_dim": 16},
    "perceiver": {"d_latents": _WIDTH, "num_latents": 4, "num_self_attends_per_block": 1},
    "qwen3_5_text": {"layer_types": ["linear_attention", "full_attention", "full_attention"]},
    "qwen3_next": {"layer_types": ["linear_attention", "full_attention", "full_attention"]},
    "radio": {"max_img_size": 24, "image_size": 16},
    "reformer": {"axial_pos_embds": False, "attn_layers": ["local", "lsh", "local"]},
    "roc_bert": {"pronunciation_vocab_size": 9, "shape_vocab_size": 9},
    "yolos": {"image_size": [16, 16], "num_detection_tokens": 2},
    "swin": _SWIN,
    "swin2sr": _SWIN,
    "swinv2": _SWIN,
    "youtu": _LATENT,
    "zaya": {"num_experts_per_tok": 1},
}
"""Settings of types that have no tiny model by the common names alone."""
_LISTS = (
    "TEXT_ENCODING",
    "MASKED_LM",
    "CAUSAL_LM",
    "IMAGE_CLASSIFICATION",
    "MASKED_IMAGE_MODELING",
    "IMAGE",
)
_MORE = """bros clip_vision_model fsmt internvl_vision led longt5 m2m_100 markuplm nllb-moe
    pegasus_x radio sam siglip2_text_model siglip2_vision_model siglip_text_model splinter
    switch_transformers"""


class NotBuilt(Exception):
    """A type of which there is no tiny model here, and why."""


def every_type() -> tuple[str, ...]:
    """Return the types in the library's lists of models of texts and images, and some more."""
    lists = (getattr(modeling_auto, f"MODEL_FOR_{name}_MAPPING_NAMES") for name in _LISTS)
    return tuple(sorted({name for names in lists for name in names} | set(_MORE.split())))


def tiny_type(model_type: str, **settings: Any) -> Model:
    """Return a type's tiny model, the same every time; the encoder, if it has a decoder too.

    Args:
        settings: in place of the usual ones.

    Raises:
        NotBuilt: with the library's own reason, or the number of weights.
    """
    try:
        model = _built(model_type, settings)
    except NotBuilt:
        raise
    except Exception as error:  # the library's own checks raise errors of many kinds
        raise NotBuilt(f"the library's own {type(error).__name__}") from error
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():  # biases start at 0 and would hide in every law
            if parameter.requires_grad:  # tables of sines are fixed
                parameter.add_(torch.randn_like(parameter) * 0.3)
        for name, buffer in model.named_buffers():
            if name.endswith("_bias"):  # of experts
                buffer.add_(torch.randn_like(buffer) * 0.3)
    model.eval().requires_grad_(False)
    return model.get_encoder() if model.config.is_encoder_decoder else model


def _built(model_type: str, settings: dict[str, Any]) -> Model:
    kind: Any = CONFIG_MAPPING[model_type]
    settings = _settings(kind) | _OTHERS.get(model_type, {}) | settings
    config = kind(**settings, attn_implementation="eager")
    built = transformers.MODEL_MAPPING.get(kind, None) or _named(kind)
    model_class: Any = built[0] if isinstance(built, tuple) else built
    with torch.device("meta"):
        weights = sum(weight.numel() for weight in model_class(config).parameters())
    if weights > _LARGEST:
        raise NotBuilt(f"{weights:,} weights at the sizes tried")
    torch.manual_seed(0)
    return model_class(config)


def _named(kind: type[Any]) -> type[Any]:
    """Return the model of a configuration that the library's automatic loader does not know."""
    return getattr(transformers, kind.__name__.replace("Config", "Model"))


def _settings(kind: type[Any]) -> dict[str, Any]:
    """Sizes for the names that a configuration has, and for those of its parts."""
    stated = kind().to_dict()
    known = {name for name, default in stated.items() if not isinstance(default, list | tuple)}
    known |= {name for name, other in kind.attribute_map.items() if other in known}
    parts = {
        name: _settings(part)
        for name, part in kind.sub_configs.items()
        if name in known and "model_type" in vars(part)
    }
    return {name: size for name, size in _SIZES.items() if name in known} | parts
