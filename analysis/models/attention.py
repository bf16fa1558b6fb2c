"""Attention weights and values of every layer, taken as the layer computes them.

The library's attention interface calls `observed_attention` in each layer, with queries and keys as
they are compared. What a layer computed is handed over and let go; no other implementation but the
library's `eager` gives weights, and it would keep those of all layers.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from analysis.errors import UnfitModel
from analysis.models.trace import Model

IMPLEMENTATION = "mixscope"
"""Name of `observed_attention` in the library's registry."""
OnAttention = Callable[[int, Tensor, Tensor], object]
"""Receiver of a layer's index, weights (batch × head × query × key) and values (batch × head × key
× head_width)."""


@dataclass(frozen=True)
class LayerParts:
    """Modules of one layer whose outputs make up its trace.

    `layer` outputs the layer's output, `output` the output of attention before any normalisation
    or residual. `norm` outputs the input of attention; None if attention reads the layer's input.
    `attention` computes attention by the library's interface, or returns its weights itself; its
    values are then the output of `values`, all heads side by side.
    """

    layer: Model
    attention: Model
    output: Model
    norm: Model | None = None
    values: Model | None = None


@dataclass(frozen=True)
class ModelParts:
    """Modules of a model: the one whose output is the first layer's input, and its layers."""

    entrance: Model
    layers: tuple[LayerParts, ...]


def observed_attention(
    module: nn.Module,
    query: Float[Tensor, "batch head query head_width"],
    key: Float[Tensor, "batch group key head_width"],
    value: Float[Tensor, "batch group key head_width"],
    attention_mask: Float[Tensor, "batch one query key"] | None,
    *,
    scaling: float | None = None,
    **more: Any,
) -> tuple[Tensor, Tensor]:
    """Compute attention as the library's `eager` does, and hand over weights and values.

    Returns:
        The mixed values (batch × query × head × head_width), and the weights.

    Raises:
        UnfitModel: if the scores have a term that is not known here.
    """
    if more.get("s_aux") is not None:
        raise UnfitModel(
            f"{type(module).__name__} adds a term to the sum of the softmax (`s_aux`), which takes "
            "weight from every token and brings nothing; such attention is not covered."
        )
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    bias = [term for term in (more.get("position_bias"), attention_mask) if term is not None]
    weights = _weights(query, key, scaling=scale, cap=more.get("softcap"), bias=bias)
    values = _of_heads(value, query.shape[1])
    receive = getattr(module, "on_attention", None)
    if receive is not None:
        receive(weights, values)
    return torch.matmul(weights, values).transpose(1, 2).contiguous(), weights


def _weights(
    query: Tensor, key: Tensor, *, scaling: float, cap: float | None, bias: list[Tensor]
) -> Tensor:
    """Return the attention weights; without gradients head by head, so that only they are held."""
    heads, keys = query.shape[1], _of_heads(key, query.shape[1])
    exact = torch.promote_types(query.dtype, torch.float32)

    def scores(head: slice) -> Tensor:
        product = torch.matmul(query[:, head], keys[:, head].mT).mul_(scaling)
        if cap is not None:
            product = cap * (product / cap).tanh()
        for term in bias:
            product += term if term.shape[1] == 1 else term[:, head]
        return product

    if torch.is_grad_enabled():
        return scores(slice(None)).softmax(-1, dtype=exact).to(query.dtype)
    weights = query.new_empty(*query.shape[:3], key.shape[2])
    for head in range(heads):
        here = slice(head, head + 1)
        weights[:, here] = scores(here).softmax(-1, dtype=exact)
    return weights


def _of_heads(shared: Tensor, heads: int) -> Tensor:
    """Repeat keys or values of groups once for each head of the group."""
    repeats = heads // shared.shape[1]
    return shared if repeats == 1 else shared.repeat_interleave(repeats, dim=1)


AttentionInterface.register(IMPLEMENTATION, observed_attention)
AttentionMaskInterface.register(IMPLEMENTATION, eager_mask)


@contextmanager
def attention_observed(
    model: Model, layers: Sequence[LayerParts], receive: OnAttention
) -> Iterator[None]:
    """Hand over weights and values of every layer within a context, as each is computed."""
    with ExitStack() as stack:
        for index, parts in enumerate(layers):
            if parts.values is None:
                parts.attention.on_attention = partial(receive, index)
                stack.callback(delattr, parts.attention, "on_attention")
            else:
                _watch(stack, parts, partial(receive, index))
        if layers[0].values is None:
            before = model.config._attn_implementation
            model.set_attn_implementation(IMPLEMENTATION)
            stack.callback(model.set_attn_implementation, before)
        yield


def _watch(
    stack: ExitStack, parts: LayerParts, receive: Callable[[Tensor, Tensor], object]
) -> None:
    """Read the weights that a module returns if asked, and the values that it computed before."""
    values: list[Tensor] = []

    def asked(module: Model, given: tuple, named: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        arguments = signature(module.forward).bind(*given, **named)
        arguments.arguments["output_attentions"] = True
        return arguments.args, arguments.kwargs

    def returned(_module: nn.Module, _inputs: Any, output: tuple[Tensor, Tensor]) -> None:
        weights = output[1]
        receive(weights, values.pop().unflatten(-1, (weights.shape[1], -1)).transpose(1, 2))

    ask = parts.attention.register_forward_pre_hook(asked, with_kwargs=True)
    stack.callback(ask.remove)
    made: Model = parts.values
    keep = made.register_forward_hook(lambda _module, _inputs, output: values.append(output))
    stack.callback(keep.remove)
    stack.callback(parts.attention.register_forward_hook(returned).remove)
