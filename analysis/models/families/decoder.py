"""Shared reading of decoders with Llama's modules: rotary queries and keys, gated networks.

The normalisation after the last layer belongs to no layer.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attention import LayerParts, ModelParts
from analysis.models.capture import change_output
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.head_norm import HeadNormWeights
from analysis.models.norm import Norm
from analysis.models.parts import (
    bias_of,
    gate_named,
    network_of,
    no_class_logits,
    no_images,
    of_every_head,
    own_inputs,
    projections,
    token_embeddings,
)
from analysis.models.rotary import Rotary
from analysis.models.trace import LayerWeights, Model
from analysis.scopes import LayerOrder

CLASSIFIERS: dict[str, str] = {}
fit_to_images, class_logits = no_images, no_class_logits
word_embeddings = token_embeddings
_TURNS = ("default", "linear", "llama3", "yarn")
"""Kinds of rotary positions with frequencies that do not depend on the length of a text."""


def layout(model: Model) -> None:
    """The model reads text."""


def check(model: Model) -> None:
    """Raise UnfitModel if a setting of the configuration is not covered for any decoder.

    Raises:
        UnfitModel: naming the setting, its value and what is covered.
    """
    gate_named(activation_of(model))
    check_rotary(model)


def check_rotary(model: Model) -> None:
    """Raise UnfitModel if rotary frequencies depend on the length of a text.

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
    """Return the configuration's name of the gates' activation."""
    config = model.config
    return getattr(config, "hidden_activation", None) or config.hidden_act


def positions(model: Model) -> int:
    """The longest sequence that the configuration allows."""
    return model.config.max_position_embeddings


def position_embedding(model: Model) -> None:
    """Return None: there are no learned position vectors."""


def changed_positions(
    model: Model, change: Callable[[Tensor], Tensor]
) -> AbstractContextManager[None]:
    """Change the rotation angles of queries and keys within a context."""

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
        beside: constant that norms of queries and keys add to their stored weights.
        is_causal: as in the configuration, if None.
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
    """The weights of a network with separate projections to gates and to inputs."""
    return network_of(mlp.up_proj, mlp.down_proj, activation, gate=mlp.gate_proj)


def rotary_of(model: Model, index: int) -> Rotary:
    """Return the rotation of a layer's queries and keys; some models have one per type of layer."""
    module, kind = model.rotary_emb, ""
    if not hasattr(module, "inv_freq"):
        kind = f"{model.config.layer_types[index]}_"
    return Rotary(getattr(module, f"{kind}inv_freq"), getattr(module, f"{kind}attention_scaling"))


def _head_norm(attention: Model, name: str, heads: int, beside: float) -> HeadNormWeights | None:
    """A norm over each head alone, or over all heads if the weights are that wide."""
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
    """Return the distance in tokens that a layer sees, None without a window. The library's window
    counts the own position of a causal token and of Gemma's encoders."""
    kinds = getattr(config, "layer_types", None)
    size = getattr(config, "sliding_window", None)
    if size is None or (kinds is not None and kinds[index] != "sliding_attention"):
        return None
    own_counts = is_causal or getattr(config, "use_bidirectional_attention", False)
    return size - 1 if own_counts else size


def logits(language_model: Model, hidden: Tensor) -> Tensor:
    """Logits over the vocabulary, from last hidden states."""
    return language_model.lm_head(hidden)


def parts(model: Model) -> ModelParts:
    """The modules whose outputs make up the trace."""
    return ModelParts(
        model.get_input_embeddings(),
        tuple(
            LayerParts(
                layer=layer,
                attention=layer.self_attn,
                output=layer.self_attn.o_proj,
                norm=getattr(layer, "input_layernorm", None),
            )
            for layer in model.layers
        ),
    )


def model_inputs(inputs: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return the inputs of a decoder: no segments, and no key–value cache."""
    return own_inputs(inputs) | {"use_cache": False}
