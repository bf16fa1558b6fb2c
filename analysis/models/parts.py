"""Readers of the modules that families share, in the shapes of the trace."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from jaxtyping import Float
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.measures.mixing.gate_share import GATED
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.norm import LayerNormWeights, RootMeanSquareWeights
from analysis.models.trace import Model

_ACTIVATIONS: Mapping[str, str] = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}
ACTIVATIONS = tuple(_ACTIVATIONS)
"""Names that configurations may give the activation of a feed-forward network."""


def activation_named(name: str) -> str:
    """The key of `analysis.measures.mixing.activation_gate.GATES` for a configuration's activation.

    Raises:
        UnfitModel: naming the activation and those that are covered.
    """
    if name not in _ACTIVATIONS:
        raise UnfitModel(
            f"The model's activation is {name!r}; covered are {', '.join(sorted(_ACTIVATIONS))}."
        )
    return _ACTIVATIONS[name]


def gate_named(name: str) -> str:
    """Return the key of `activation_gate.GATES` for the activation of a network's gates.

    Raises:
        UnfitModel: naming the activation and those that are covered.
    """
    covered = sorted(activation for activation, known in _ACTIVATIONS.items() if known in GATED)
    if name not in covered:
        raise UnfitModel(
            f"The activation of the model's gates is {name!r}; covered are {', '.join(covered)}."
        )
    return _ACTIVATIONS[name]


def no_logits(language_model: Model, hidden: Tensor) -> Tensor:
    """Raise UnfitModel, for a family without language models.

    Raises:
        UnfitModel: always; a configuration of such a family never names one.
    """
    raise UnfitModel(f"{type(language_model).__name__} predicts no tokens.")


def no_class_logits(classifier: Model, hidden: Tensor) -> Tensor:
    """Raise UnfitModel, for a family whose classifiers are not read.

    Raises:
        UnfitModel: always; a configuration of such a family never names one.
    """
    raise UnfitModel(f"{type(classifier).__name__} predicts no classes.")


def no_images(model: Model, size: tuple[int, int]) -> None:
    """Raise UnfitModel, for a family that reads text.

    Raises:
        UnfitModel: always; a model of such a family has no layout of patches.
    """
    raise UnfitModel(f"{type(model).__name__} reads text and no images.")


def layer_norm(module: Model) -> LayerNormWeights:
    """A layer normalisation's weights; the shift is 0 where it has none."""
    return LayerNormWeights(module.weight.detach(), bias_of(module), module.eps)


def root_mean_square(module: Model, *, beside: float = 0.0) -> RootMeanSquareWeights:
    """A root mean square normalisation's weights.

    Args:
        beside: constant that the module adds to its stored weights.
    """
    epsilon = module.variance_epsilon if hasattr(module, "variance_epsilon") else module.eps
    return RootMeanSquareWeights(module.weight.detach() + beside, epsilon)


def bias_of(projection: Model) -> Tensor:
    """The bias of a projection, zeros where it has none."""
    weight = projection.weight
    return weight.new_zeros(len(weight)) if projection.bias is None else projection.bias.detach()


def network_of(
    hidden: Model, back: Model, activation: str, *, gate: Model = None
) -> FeedForwardWeights:
    """The weights of a network of two projections, or of three with gates.

    Args:
        activation: its name in the configuration.
    """
    plain = FeedForwardWeights(
        input_weight=hidden.weight.detach().T,
        input_bias=bias_of(hidden),
        output_weight=back.weight.detach().T,
        output_bias=bias_of(back),
        activation=activation_named(activation) if gate is None else gate_named(activation),
    )
    if gate is None:
        return plain
    return replace(plain, gate_weight=gate.weight.detach().T, gate_bias=bias_of(gate))


def all_inputs(inputs: dict[str, Tensor]) -> dict[str, Any]:
    """Return the inputs of a model that takes all of them: a text with segments, or an image."""
    return inputs


def own_inputs(inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the inputs of a text model without segments."""
    return {name: inputs[name] for name in ("input_ids", "attention_mask")}


def projections(sides: Iterable[tuple[Tensor, Tensor]], heads: int) -> dict[str, Any]:
    """Queries, keys and values (x @ weight + bias) of all heads at once, cut into heads.

    Args:
        sides: weight (width × all heads' coordinates) and bias of the queries, of the keys, of the
            values. Keys and values that several heads share occur once.
        heads: number of query heads.

    Returns:
        `query_weight` (head × width × head_width), `query_bias` (head × head_width), and so on;
        `groups`; and `score_scale` = 1/√head_width, which few families change.
    """
    (query_weight, query_bias), *shared = sides
    width = query_weight.shape[1] // heads
    projected: dict[str, Any] = {"score_scale": width**-0.5}
    for name, (weight, bias) in zip(
        ("query", "key", "value"), ((query_weight, query_bias), *shared), strict=True
    ):
        cut = weight.detach().unflatten(1, (-1, width)).transpose(0, 1)
        projected[f"{name}_weight"] = of_every_head(cut, heads)
        projected[f"{name}_bias"] = of_every_head(bias.detach().unflatten(0, (-1, width)), heads)
        projected["groups"] = None if len(cut) == heads else groups(len(cut), heads)
    return projected


def groups(n_groups: int, heads: int) -> tuple[int, ...]:
    """Return the index of each head's keys and values; heads of a group are adjacent."""
    return tuple(head * n_groups // heads for head in range(heads))


def of_every_head(shared: Float[Tensor, "group *rest"], heads: int) -> Float[Tensor, "head *rest"]:
    """Repeat the tensors of head groups once for each head of the group."""
    repeats = heads // len(shared)
    return shared if repeats == 1 else shared.repeat_interleave(repeats, dim=0)


def token_embeddings(model: Model, inputs: Mapping[str, Tensor]) -> Tensor:
    """Rows of the embedding table, before positions or other vectors are added."""
    return model.get_input_embeddings().weight.detach()[inputs["input_ids"]]
