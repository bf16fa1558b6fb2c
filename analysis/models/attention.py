"""Attention weights and values of every layer, taken as the layer computes them.

The library's attention interface calls `observed_attention` in each layer, with queries and keys as
they are compared. What a layer computed is handed over and let go; no other implementation but the
library's `eager` gives weights, and it would keep those of all layers.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from analysis.models.trace import Model

IMPLEMENTATION = "mixscope"
"""Name of `observed_attention` in the library's registry."""
OnAttention = Callable[[Tensor, Tensor], object]
"""Receiver of a layer's weights (batch × head × query × key) and values (batch × head × key ×
head_width)."""


@dataclass(frozen=True)
class Attended:
    """Attention of one layer as it was computed: what was compared, and what came of it.

    `value` has one entry for each group of heads, `bias` the terms added to the scores, and a `sink`
    is a logit of each head that enters the sum of the softmax and brings nothing.
    """

    module: Model
    query: Float[Tensor, "batch head query head_width"]
    key: Float[Tensor, "batch group key head_width"]
    value: Float[Tensor, "batch group key value_width"]
    weights: Float[Tensor, "batch head query key"]
    mixed: Float[Tensor, "batch query head value_width"]
    scale: float
    cap: float | None
    bias: tuple[Tensor, ...]
    sink: Tensor | None

    @property
    def values(self) -> Float[Tensor, "batch head key value_width"]:
        """Values of every head."""
        return _of_heads(self.value, self.query.shape[1])


@dataclass(frozen=True)
class LayerParts:
    """Modules of one layer whose inputs and outputs make up its trace.

    `layer` is given the layer's input and returns its output. `output` returns the output of
    attention before any normalisation or residual; where the stream gets it times a `factor`, so
    does the trace. `norm` returns the input of attention; None if attention reads the layer's
    input. `attention` computes attention by the library's interface, or returns its weights itself;
    its values are then the `columns` of what `values` returns, head after head.
    """

    layer: Model
    attention: Model
    output: Model
    norm: Model | None = None
    factor: Tensor | None = None
    values: Model | None = None
    columns: Int[Tensor, " column"] | None = None


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
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    cap, sink = more.get("softcap"), more.get("s_aux")
    bias = tuple(term for term in (more.get("position_bias"), attention_mask) if term is not None)
    weights = _weights(query, key, scaling=scale, cap=cap, bias=bias, sink=sink)
    mixed = torch.matmul(weights, _of_heads(value, query.shape[1])).transpose(1, 2).contiguous()
    receive = getattr(module, "on_attention", None)
    if receive is not None:
        receive(Attended(module, query, key, value, weights, mixed, scale, cap, bias, sink))
    return mixed, weights


def _weights(
    query: Tensor,
    key: Tensor,
    *,
    scaling: float,
    cap: float | None,
    bias: Sequence[Tensor],
    sink: Tensor | None,
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

    def shares(head: slice) -> Tensor:
        made = scores(head)
        if sink is None:
            return made.softmax(-1, dtype=exact).to(query.dtype)
        taken = sink[head].to(made).reshape(1, -1, 1, 1).expand(*made.shape[:-1], 1)
        return torch.cat([made, taken], -1).softmax(-1, dtype=exact)[..., :-1].to(query.dtype)

    if torch.is_grad_enabled():
        return shares(slice(None))
    weights = query.new_empty(*query.shape[:3], key.shape[2])
    for head in range(heads):
        here = slice(head, head + 1)
        weights[:, here] = shares(here)
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
        if layers[0].values is None:
            stack.enter_context(
                attention_recorded(model, lambda seen: receive(seen.weights, seen.values))
            )
        for parts in layers:
            if parts.values is not None:
                _watch(stack, parts, receive)
        yield


@contextmanager
def attention_recorded(model: Model, receive: Callable[[Attended], object]) -> Iterator[None]:
    """Hand over all attention of a model within a context, in the order of its computation."""
    with ExitStack() as stack:
        for module in model.modules():
            module.on_attention = receive
            stack.callback(delattr, module, "on_attention")
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
        weights, made = output[1], values.pop()
        of_heads = made if parts.columns is None else made[..., parts.columns]
        receive(weights, of_heads.unflatten(-1, (weights.shape[1], -1)).transpose(1, 2))

    ask = parts.attention.register_forward_pre_hook(asked, with_kwargs=True)
    stack.callback(ask.remove)
    made: Model = parts.values
    keep = made.register_forward_hook(lambda _module, _inputs, output: values.append(output))
    stack.callback(keep.remove)
    stack.callback(parts.attention.register_forward_hook(returned).remove)
