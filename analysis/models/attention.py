"""Attention weights and values of every layer, taken as the layer computes them.

The library's attention interface calls `observed_attention` in each layer, with queries and keys as
they are compared. What a layer computed is handed over and let go; no other implementation but the
library's `eager` gives weights, and it would keep those of all layers.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from sys import modules
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from analysis.models.attended import Attended, of_every_head, weights_of
from analysis.models.attention_functions import AttentionFunctions
from analysis.models.trace import Model

IMPLEMENTATION = "mixscope"
"""Name of `observed_attention` in the library's registry."""
OnAttention = Callable[[Attended], object]
"""Receiver of a layer's attention."""


@dataclass(frozen=True)
class LayerParts:
    """Modules of one layer whose inputs and outputs make up its trace.

    `layer` is given the layer's input and returns its output. `output` returns the output of
    attention before any normalisation or residual; where the stream gets it times a `factor` or
    plus a `shift`, so does the trace. `norm` returns the input of attention; None if attention
    reads the layer's input.
    """

    layer: Model
    output: Model
    norm: Model | None = None
    factor: Tensor | None = None
    shift: Tensor | None = None


def observed_attention(
    module: nn.Module,
    query: Float[Tensor, "batch head query head_width"],
    key: Float[Tensor, "batch group key head_width"],
    value: Float[Tensor, "batch group key value_width"],
    attention_mask: Float[Tensor, "#batch #head #query key"] | None,
    *,
    scaling: float | None = None,
    **more: Any,
) -> tuple[Tensor, Tensor]:
    """Compute attention as the library's `eager` does, and hand over weights and values.

    Returns:
        The mixed values (batch × query × head × head_width), and the weights.
    """
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    cap, sink = more.get("softcap"), more.get("s_aux")
    bias = tuple(term for term in (more.get("position_bias"), attention_mask) if term is not None)
    weights = _weights(query, key, scaling=scale, cap=cap, bias=bias, sink=sink)
    values = of_every_head(value, query.shape[1], axis=1)
    mixed = torch.matmul(weights, values).transpose(1, 2).contiguous()
    receive = getattr(module, "on_attention", None)
    if receive is not None:
        receive(Attended(query, key, value, weights, mixed, scale, cap, bias, sink))
    return mixed, weights


def _weights(query: Tensor, key: Tensor, **terms: Any) -> Tensor:
    """Return the attention weights; without gradients head by head, so that only they are held."""
    heads, keys = query.shape[1], of_every_head(key, query.shape[1], axis=1)
    if torch.is_grad_enabled():
        return _of_some(query, keys, slice(None), **terms)
    weights = query.new_empty(*query.shape[:3], key.shape[2])
    for head in range(heads):
        here = slice(head, head + 1)
        weights[:, here] = _of_some(query, keys, here, **terms)
    return weights


def _of_some(
    query: Tensor,
    keys: Tensor,
    head: slice,
    *,
    scaling: float,
    cap: float | None,
    bias: Sequence[Tensor],
    sink: Tensor | None,
) -> Tensor:
    """Return the attention weights of some heads."""
    scores = torch.matmul(query[:, head], keys[:, head].mT).mul_(scaling)
    if cap is not None:
        scores = cap * (scores / cap).tanh()
    for term in bias:
        scores += term if term.shape[1] == 1 else term[:, head]
    exact = torch.promote_types(query.dtype, torch.float32)
    return weights_of(scores, None if sink is None else sink[head], exact).to(query.dtype)


AttentionInterface.register(IMPLEMENTATION, observed_attention)
AttentionMaskInterface.register(IMPLEMENTATION, eager_mask)


@contextmanager
def attention_observed(model: Model, n_texts: int, receive: OnAttention) -> Iterator[None]:
    """Hand over all attention of a model within a context, in the order of its computation.

    Args:
        n_texts: size of the batch.
    """
    with ExitStack() as stack:
        if not attends_by_interface(model):
            stack.enter_context(AttentionFunctions(n_texts, receive))
            yield
            return
        for module in model.modules():
            module.on_attention = receive
            stack.callback(delattr, module, "on_attention")
        before = model.config._attn_implementation
        model.set_attn_implementation(IMPLEMENTATION)
        stack.callback(model.set_attn_implementation, before)
        yield


def attends_by_interface(model: Model) -> bool:
    """Return True if a model's own file calls the library's attention interface."""
    return "ALL_ATTENTION_FUNCTIONS" in vars(modules[type(model).__module__])
