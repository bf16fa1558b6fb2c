"""One tiny model for every family of decoders."""

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
TURNED: dict[str, Any] = {"rope_type": "default", "rope_theta": 50.0}
"""Rotation by large angles, so that places matter within a short text."""


@dataclass(frozen=True)
class Tiny:
    """Configuration and tokenizer of a family, its language model, and its sizes."""

    config: Callable[..., Any]
    tokenizer: Callable[[], PreTrainedTokenizerBase]
    segment_types: int
    language_model: type[Any]
    heads: int = HEADS

    def model(self, vocabulary: int) -> transformers.PreTrainedModel:
        """Build the bare model."""
        return transformers.AutoModel.from_config(self.config(vocab_size=vocabulary))


_DECODER: dict[str, Any] = {
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "hidden_size": WIDTH,
    "intermediate_size": 24,
    "max_position_embeddings": POSITIONS,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": None,
    "rope_parameters": TURNED,
    **EAGER,
}
_FOUR_HEADS: dict[str, Any] = {
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 4,
    "attention_bias": True,
}
_EXPERTS: dict[str, Any] = {
    "num_experts_per_tok": 2,
    "experts_implementation": "eager",  # which takes float64 too
}


def _decoder(name: str, *, config: str = "", tokenizer: Any = gpt2_like, **changed: Any) -> Tiny:
    """Return a decoder by the library's name, of the same sizes but for what is changed."""
    sizes = _DECODER | changed
    return Tiny(
        partial(getattr(transformers, config or f"{name}Config"), **sizes),
        tokenizer,
        0,
        getattr(transformers, f"{name}ForCausalLM"),
        sizes["num_attention_heads"],
    )


_GPT2: dict[str, Any] = {"n_layer": LAYERS, "n_head": HEADS, "n_embd": WIDTH, "n_inner": 24}
_GPT2 |= {"n_positions": POSITIONS, "bos_token_id": 0, "eos_token_id": 0, **EAGER}
DECODERS = {
    "gpt2": Tiny(
        partial(transformers.GPT2Config, **_GPT2), gpt2_like, 0, transformers.GPT2LMHeadModel
    ),
    "llama": _decoder("Llama", tokenizer=llama_like, mlp_bias=True, **_FOUR_HEADS),
    "mistral": _decoder("Mistral", num_key_value_heads=1, sliding_window=5),
    "qwen2": _decoder(
        "Qwen2",
        num_key_value_heads=3,
        use_sliding_window=True,
        sliding_window=3,
        max_window_layers=1,
    ),
    "qwen3": _decoder("Qwen3", num_key_value_heads=3, head_dim=6),
    "olmo2": _decoder("Olmo2", **_FOUR_HEADS),
    "gemma2": _decoder(
        "Gemma2",
        query_pre_attn_scalar=5,
        sliding_window=5,
        attn_logit_softcapping=2.0,
        **_FOUR_HEADS,
    ),
    "gemma3_text": _decoder(
        "Gemma3",
        config="Gemma3TextConfig",
        num_key_value_heads=1,
        head_dim=4,
        query_pre_attn_scalar=5,
        sliding_window=4,
        layer_types=["sliding_attention", "full_attention"],
        rope_parameters={
            "sliding_attention": TURNED,
            "full_attention": TURNED | {"rope_theta": 500.0},
        },
    ),
    "mixtral": _decoder("Mixtral", num_key_value_heads=1, num_local_experts=4, **_EXPERTS),
    "qwen3_moe": _decoder(
        "Qwen3Moe",
        num_key_value_heads=3,
        head_dim=6,
        num_experts=5,
        moe_intermediate_size=8,
        norm_topk_prob=False,
        mlp_only_layers=[1],
        **_EXPERTS,
    ),
    "gpt_oss": _decoder("GptOss", sliding_window=5, num_local_experts=4, **_EXPERTS, **_FOUR_HEADS),
    "youtu": _decoder(
        "Youtu",
        num_attention_heads=4,
        num_key_value_heads=4,
        kv_lora_rank=7,
        q_lora_rank=9,
        qk_rope_head_dim=4,
        qk_nope_head_dim=3,
        v_head_dim=5,
        attention_bias=True,
    ),
    "afmoe": _decoder(
        "Afmoe",
        num_dense_layers=2,
        sliding_window=4,
        global_attn_every_n_layers=2,
        **_FOUR_HEADS,
    ),
    "gpt_neox": _decoder("GPTNeoX", rope_parameters=TURNED | {"partial_rotary_factor": 0.5}),
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
