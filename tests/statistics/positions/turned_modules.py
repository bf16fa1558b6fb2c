"""Attention of the library's own modules that turn queries and keys, as layers of a trace."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import transformers
from transformers.models.gpt_neox import modeling_gpt_neox
from transformers.models.llama import modeling_llama
from transformers.models.qwen3 import modeling_qwen3

from analysis.models.head_norm import HeadNormWeights
from analysis.models.parts import projections
from analysis.models.rotary import Rotary
from analysis.models.trace import LayerTrace, LayerWeights

HEADS, WIDTH, N = 3, 12, 9
HEAD_WIDTH = WIDTH // HEADS
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8}
_SIZES: dict[str, Any] = {
    "hidden_size": WIDTH,
    "num_attention_heads": HEADS,
    "attn_implementation": "eager",
    "max_position_embeddings": 32,
}


def _decoder(module: Any, kind: str, config: Any) -> tuple[Any, Any, Callable[[Any], Any]]:
    made = getattr(module, f"{kind}Attention")(config, layer_idx=0)
    names = ("q_proj", "k_proj", "v_proj")
    return (
        made,
        getattr(module, f"{kind}RotaryEmbedding")(config),
        lambda attention: [
            (
                side.weight.T,
                side.weight.new_zeros(len(side.weight)) if side.bias is None else side.bias,
            )
            for side in (getattr(attention, name) for name in names)
        ],
    )


def _llama(**rope: Any) -> tuple[Any, Any, Callable[[Any], Any]]:
    parameters = {"rope_type": "default", "rope_theta": 100.0, **rope}
    sizes = {**_SIZES, "num_key_value_heads": 1, "rope_parameters": parameters}
    config = transformers.LlamaConfig(**sizes, attention_bias=True)
    return _decoder(modeling_llama, "Llama", config)


def _qwen3() -> tuple[Any, Any, Callable[[Any], Any]]:
    parameters = {"rope_type": "default", "rope_theta": 100.0}
    sizes = {**_SIZES, "num_key_value_heads": HEADS, "head_dim": HEAD_WIDTH}
    config = transformers.Qwen3Config(**sizes, rope_parameters=parameters)
    return _decoder(modeling_qwen3, "Qwen3", config)


def _gpt_neox() -> tuple[Any, Any, Callable[[Any], Any]]:
    parameters = {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.5}
    config = transformers.GPTNeoXConfig(**_SIZES, rope_parameters=parameters)
    module = modeling_gpt_neox.GPTNeoXAttention(config, layer_idx=0)

    def sides(attention: Any) -> Any:
        fused = attention.query_key_value
        weight = fused.weight.T.unflatten(1, (HEADS, 3, HEAD_WIDTH))
        bias = fused.bias.unflatten(0, (HEADS, 3, HEAD_WIDTH))
        return [(weight[:, :, c].flatten(1), bias[:, c].flatten()) for c in range(3)]

    return module, modeling_gpt_neox.GPTNeoXRotaryEmbedding(config), sides


MODULES: dict[str, Callable[[], Any]] = {
    "llama": _llama,
    "yarn": lambda: _llama(**YARN),
    "qwen3": _qwen3,
    "gpt_neox": _gpt_neox,
}


def attended(name: str, weights: LayerWeights) -> LayerTrace:
    """A module's own attention in float32, and the same layer as the measures see it.

    Args:
        weights: of a tiny layer of as many heads, whose other parts are kept.
    """
    torch.manual_seed(0)
    module, embedding, sides = MODULES[name]()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.7)
    norms = {
        f"{side}_norm": HeadNormWeights(norm.weight.detach(), norm.variance_epsilon)
        for side in ("query", "key")
        if (norm := getattr(module, f"{side[0]}_norm", None)) is not None
    }
    read = torch.randn(1, N, WIDTH)
    mask = torch.full((N, N), float("-inf")).triu(1)[None, None]
    places = embedding(read, torch.arange(N)[None])
    with torch.no_grad():
        output, attention = module.eval()(read, position_embeddings=places, attention_mask=mask)[:2]
    turned = replace(
        weights,
        **projections(iter(sides(module)), HEADS),
        **norms,
        rotary=Rotary(embedding.inv_freq, embedding.attention_scaling),
        is_causal=True,
    )
    values = read[0] @ turned.value_weight + turned.value_bias[:, None]
    return LayerTrace(turned, read, read, attention, values[None], output, output)
