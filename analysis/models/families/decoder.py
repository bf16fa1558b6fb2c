"""What all decoders of Llama's build share: turned queries and keys, gated networks, and the names
of their modules.

The normalisation after the last layer belongs to no layer.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.capture import change_output, record_outputs
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.gradients import Loss, attention_gradients
from analysis.models.head_norm import HeadNormWeights
from analysis.models.norm import Norm
from analysis.models.parts import (
    attentions_of,
    bias_of,
    forward_pass,
    gate_named,
    layer_traces,
    network_of,
    no_class_logits,
    no_images,
    of_every_head,
    own_inputs,
    projections,
)
from analysis.models.rotary import Rotary
from analysis.models.trace import LayerWeights, Model, Trace
from analysis.scopes import LayerOrder

CLASSIFIERS: dict[str, str] = {}
fit_to_images, class_logits = no_images, no_class_logits
_TURNS = ("default", "linear", "llama3", "yarn")
"""Kinds of rotary positions whose frequencies are the same for texts of any length."""


def layout(model: Model) -> None:
    """The model reads text."""


def check(model: Model) -> None:
    """Refuse a configuration that no decoder's reading covers.

    Raises:
        UnfitModel: naming the setting, its value and what is covered.
    """
    gate_named(activation_of(model))
    check_rotary(model)


def check_rotary(model: Model) -> None:
    """Refuse rotary positions whose frequencies depend on the length of a text.

    Raises:
        UnfitModel: naming the kind and those that are covered.
    """
    given = model.config.rope_parameters
    kinds = [given] if "rope_type" in given else [rope for rope in given.values() if rope]
    for kind in (rope["rope_type"] for rope in kinds):
        if kind not in _TURNS:
            raise UnfitModel(
                f"The model's rope_type is {kind!r}; covered are {', '.join(_TURNS)}, whose "
                "frequencies are the same for texts of any length."
            )


def activation_of(model: Model) -> str:
    """What the configuration calls the activation of the network's gates."""
    config = model.config
    return getattr(config, "hidden_activation", None) or config.hidden_act


def positions(model: Model) -> int:
    """The longest sequence that the configuration allows."""
    return model.config.max_position_embeddings


def position_embedding(model: Model) -> None:
    """Positions are no learned vectors."""


def changed_positions(
    model: Model, change: Callable[[Tensor], Tensor]
) -> AbstractContextManager[None]:
    """The model with other angles that queries and keys are turned by, as long as asked."""

    def turned(output: Any) -> Any:
        cosine, sine = output
        angles, size = change(torch.atan2(sine, cosine)), torch.hypot(sine, cosine)
        return angles.cos() * size, angles.sin() * size

    return change_output(model.rotary_emb, turned)


def layer_weights(
    model: Model,
    index: int,
    *,
    order: LayerOrder,
    norms: tuple[Norm, ...],
    beside: float = 0.0,
    is_causal: bool | None = None,
    network: Callable[[Model, str], FeedForwardWeights] | None = None,
) -> LayerWeights:
    """The weights of a layer.

    Args:
        network: reads the feed-forward network, by the name of its activation; `gated_network` if
            None.
        beside: what norms of queries and keys add to the weights that they keep.
        is_causal: as the configuration says, if None.
    """
    config, attention, mlp = model.config, model.layers[index].self_attn, model.layers[index].mlp
    heads, output = config.num_attention_heads, attention.o_proj
    sides = (attention.q_proj, attention.k_proj, attention.v_proj)
    projected = projections(((side.weight.T, bias_of(side)) for side in sides), heads)
    causal = getattr(config, "is_causal", True) if is_causal is None else is_causal
    return LayerWeights(
        **projected | {"score_scale": attention.scaling},
        output_weight=output.weight.detach().T.unflatten(0, (heads, -1)),
        output_bias=bias_of(output),
        feed_forward=(network or gated_network)(mlp, activation_of(model)),
        order=order,
        norms=norms,
        is_causal=causal,
        score_cap=getattr(config, "attn_logit_softcapping", None),
        rotary=rotary_of(model, index),
        query_norm=_head_norm(attention, "q_norm", heads, beside),
        key_norm=_head_norm(attention, "k_norm", heads, beside),
        window=_window(config, index, is_causal=causal),
    )


def gated_network(mlp: Model, activation: str) -> FeedForwardWeights:
    """The weights of a network whose gates and inputs are projected side by side."""
    return network_of(mlp.up_proj, mlp.down_proj, activation, gate=mlp.gate_proj)


def rotary_of(model: Model, index: int) -> Rotary:
    """How a layer turns its queries and keys; in some models that depends on its kind."""
    module, kind = model.rotary_emb, ""
    if not hasattr(module, "inv_freq"):
        kind = f"{model.config.layer_types[index]}_"
    return Rotary(getattr(module, f"{kind}inv_freq"), getattr(module, f"{kind}attention_scaling"))


def _head_norm(attention: Model, name: str, heads: int, beside: float) -> HeadNormWeights | None:
    """A norm over each head by itself, or where it is as wide as all of them, over all."""
    norm = getattr(attention, name, None)
    if norm is None:
        return None
    scale = norm.weight.detach() + beside
    epsilon = norm.variance_epsilon if hasattr(norm, "variance_epsilon") else norm.eps
    if len(scale) == attention.head_dim:
        return HeadNormWeights(scale, epsilon)
    scales = of_every_head(scale.unflatten(0, (-1, attention.head_dim)), heads)
    return HeadNormWeights(scales, epsilon, over_heads=True)


def _window(config: Any, index: int, *, is_causal: bool) -> int | None:
    """How far a layer looks; the library counts a causal token's own place as one of its window's,
    and in Gemma's encoders too."""
    kinds = getattr(config, "layer_types", None)
    size = getattr(config, "sliding_window", None)
    if size is None or (kinds is not None and kinds[index] != "sliding_attention"):
        return None
    own_counts = is_causal or getattr(config, "use_bidirectional_attention", False)
    return size - 1 if own_counts else size


def trace(model: Model, layers: tuple[LayerWeights, ...], inputs: dict[str, Tensor]) -> Trace:
    """Run the model once and take each layer apart; it has no segments, so these are left out."""
    modules = model.layers
    watched = {"input 0": model.get_input_embeddings()}
    watched |= {f"input {i + 1}": layer for i, layer in enumerate(modules)}
    if layers[0].order.read:
        watched |= {f"normed {i}": layer.input_layernorm for i, layer in enumerate(modules)}
    watched |= {f"value {i}": layer.self_attn.v_proj for i, layer in enumerate(modules)}
    watched |= {f"output {i}": layer.self_attn.o_proj for i, layer in enumerate(modules)}
    with torch.inference_mode(), record_outputs(watched) as seen:
        attentions = attentions_of(run(model, inputs), len(modules))
    values = [seen[f"value {i}"] for i in range(len(layers))]
    return Trace(
        layers=layer_traces(layers, seen, attentions, values=values),
        is_token=inputs["attention_mask"].bool(),
        word_embeddings=words(model, inputs),
    )


def run(model: Model, inputs: dict[str, Tensor]) -> Any:
    """One forward pass, nothing kept for a text that goes on."""
    return forward_pass(model, inputs_of(inputs))


def words(model: Model, inputs: dict[str, Tensor]) -> Tensor:
    """The rows of the embedding table, whatever the model multiplies them by."""
    return model.get_input_embeddings().weight.detach()[inputs["input_ids"]]


def inputs_of(inputs: dict[str, Tensor]) -> dict[str, Any]:
    """What a decoder is called with."""
    return own_inputs(inputs) | {"use_cache": False}


def logits(language_model: Model, hidden: Tensor) -> Tensor:
    """What the language model says of last hidden states: a number for every token there is."""
    return language_model.lm_head(hidden)


def gradients(model: Model, inputs: dict[str, Tensor], loss: Loss) -> tuple[Tensor, ...]:
    """How a loss changes with the attention weights of each layer."""
    first, n_layers = model.get_input_embeddings(), len(model.layers)
    return attention_gradients(model, inputs_of(inputs), loss, first=first, n_layers=n_layers)
