"""One tiny model for every family of decoders of Llama's build."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from analysis.models.norm import RootMeanSquareWeights, normed
from analysis.models.trace import Model
from tests.precompute.corpora.tiny import gpt2_like, llama_like

LAYERS, HEADS, WIDTH, POSITIONS = 2, 3, 12, 40
EAGER: dict[str, Any] = {"attn_implementation": "eager"}  # which keeps the attention weights


@dataclass(frozen=True)
class Tiny:
    """Constructors of a family's model, tokenizer and language model, and its sizes."""

    model: Callable[[int], transformers.PreTrainedModel]
    tokenizer: Callable[[], PreTrainedTokenizerBase]
    segment_types: int
    language_model: type[Any]
    heads: int = HEADS


_DECODER: dict[str, Any] = {
    "num_hidden_layers": LAYERS,
    "hidden_size": WIDTH,
    "intermediate_size": 24,
    "max_position_embeddings": POSITIONS,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": None,
    **EAGER,
}
_TURNED = {"rope_type": "default", "rope_theta": 50.0}


def _decoder(
    config: type[Any], *, heads: int = HEADS, **changed: Any
) -> Callable[[int], transformers.PreTrainedModel]:
    """Turned by large angles, so that places matter within a short text."""
    sizes = {"num_attention_heads": heads, "rope_parameters": _TURNED} | _DECODER | changed

    def built(vocabulary: int) -> transformers.PreTrainedModel:
        return transformers.AutoModel.from_config(config(vocab_size=vocabulary, **sizes))

    return built


DECODERS = {
    "llama": Tiny(
        _decoder(
            transformers.LlamaConfig,
            heads=4,
            num_key_value_heads=2,
            head_dim=4,
            attention_bias=True,
            mlp_bias=True,
        ),
        llama_like,
        0,
        transformers.LlamaForCausalLM,
        heads=4,
    ),
    "mistral": Tiny(
        _decoder(transformers.MistralConfig, num_key_value_heads=1, sliding_window=5),
        gpt2_like,
        0,
        transformers.MistralForCausalLM,
    ),
    "qwen2": Tiny(
        _decoder(
            transformers.Qwen2Config,
            num_key_value_heads=3,
            use_sliding_window=True,
            sliding_window=3,
            max_window_layers=1,
        ),
        gpt2_like,
        0,
        transformers.Qwen2ForCausalLM,
    ),
    "qwen3": Tiny(
        _decoder(transformers.Qwen3Config, num_key_value_heads=3, head_dim=6),
        gpt2_like,
        0,
        transformers.Qwen3ForCausalLM,
    ),
    "olmo2": Tiny(
        _decoder(
            transformers.Olmo2Config,
            heads=4,
            num_key_value_heads=2,
            head_dim=4,
            attention_bias=True,
        ),
        gpt2_like,
        0,
        transformers.Olmo2ForCausalLM,
        heads=4,
    ),
    "gemma2": Tiny(
        _decoder(
            transformers.Gemma2Config,
            heads=4,
            num_key_value_heads=2,
            head_dim=4,
            query_pre_attn_scalar=5,
            sliding_window=5,
            attn_logit_softcapping=2.0,
            attention_bias=True,
        ),
        gpt2_like,
        0,
        transformers.Gemma2ForCausalLM,
        heads=4,
    ),
    "gemma3_text": Tiny(
        _decoder(
            transformers.Gemma3TextConfig,
            num_key_value_heads=1,
            head_dim=4,
            query_pre_attn_scalar=5,
            sliding_window=4,
            layer_types=["sliding_attention", "full_attention"],
            rope_parameters={
                "sliding_attention": _TURNED,
                "full_attention": _TURNED | {"rope_theta": 500.0},
            },
        ),
        gpt2_like,
        0,
        transformers.Gemma3ForCausalLM,
    ),
    "mixtral": Tiny(
        _decoder(
            transformers.MixtralConfig,
            num_key_value_heads=1,
            num_local_experts=4,
            num_experts_per_tok=2,
            experts_implementation="eager",  # which takes float64 too
        ),
        gpt2_like,
        0,
        transformers.MixtralForCausalLM,
    ),
    "qwen3_moe": Tiny(
        _decoder(
            transformers.Qwen3MoeConfig,
            num_key_value_heads=3,
            head_dim=6,
            num_experts=5,
            num_experts_per_tok=2,
            experts_implementation="eager",  # which takes float64 too
            moe_intermediate_size=8,
            norm_topk_prob=False,
            mlp_only_layers=[1],
        ),
        gpt2_like,
        0,
        transformers.Qwen3MoeForCausalLM,
    ),
    "gpt_oss": Tiny(
        _decoder(
            transformers.GptOssConfig,
            heads=4,
            num_key_value_heads=2,
            head_dim=4,
            sliding_window=5,
            num_local_experts=4,
            num_experts_per_tok=2,
            experts_implementation="eager",  # which takes float64 too
            attention_bias=True,
        ),
        gpt2_like,
        0,
        transformers.GptOssForCausalLM,
        heads=4,
    ),
    "youtu": Tiny(
        _decoder(
            transformers.YoutuConfig,
            heads=4,
            num_key_value_heads=4,
            kv_lora_rank=7,
            q_lora_rank=9,
            qk_rope_head_dim=4,
            qk_nope_head_dim=3,
            v_head_dim=5,
            attention_bias=True,
        ),
        gpt2_like,
        0,
        transformers.YoutuForCausalLM,
        heads=4,
    ),
    "afmoe": Tiny(
        _decoder(
            transformers.AfmoeConfig,
            heads=4,
            num_key_value_heads=2,
            head_dim=4,
            num_dense_layers=2,
            sliding_window=4,
            global_attn_every_n_layers=2,
            attention_bias=True,
        ),
        gpt2_like,
        0,
        transformers.AfmoeForCausalLM,
        heads=4,
    ),
    "gpt_neox": Tiny(
        _decoder(
            transformers.GPTNeoXConfig,
            rope_parameters=_TURNED | {"partial_rotary_factor": 0.5},
        ),
        gpt2_like,
        0,
        transformers.GPTNeoXForCausalLM,
    ),
}


def make_exact(model: Model) -> None:
    """Root mean squares in float64, which the library takes in float32 whatever the model is in.

    And a mask that float32, which the library's softmax is in, does not take for minus infinity.
    """
    for module in model.modules():
        kind = type(module).__name__
        if kind.endswith("RMSNorm") or (kind.endswith("LayerNorm") and "T5" in kind):
            module.forward = partial(_exact_norm, module)
        elif kind.endswith("TopKRouter") and not hasattr(module, "bias"):
            module.forward = partial(_exact_router, module)
        elif kind.endswith("Attention"):
            module.register_forward_pre_hook(_with_finite_mask, with_kwargs=True)


def _exact_norm(module: Model, hidden: Tensor) -> Tensor:
    if hidden.dtype is not torch.float64:
        return type(module).forward(module, hidden)
    epsilon = getattr(module, "variance_epsilon", None) or module.eps
    scale = module.weight.detach() + float("Gemma" in type(module).__name__)
    return normed(RootMeanSquareWeights(scale, epsilon), hidden)


def _exact_router(module: Model, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Scores in float64, which the library takes in float32."""
    if hidden.dtype is not torch.float64:
        return type(module).forward(module, hidden)
    scores = hidden.flatten(0, -2) @ module.weight.T
    top, experts = scores.softmax(dim=-1).topk(module.top_k, dim=-1)
    if getattr(module, "norm_topk_prob", True):
        top = top / top.sum(dim=-1, keepdim=True)
    return scores, top, experts


def _with_finite_mask(
    _: Model, given: tuple, named: dict[str, Any]
) -> tuple[tuple, dict[str, Any]]:
    mask = named.get("attention_mask")
    return given, named if mask is None else named | {"attention_mask": mask.clamp_min(-1e30)}
