"""Weights of modules in the shapes of the trace."""

from collections.abc import Iterable
from typing import Any

from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attended import of_every_head
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.norm import LayerNormWeights
from analysis.models.trace import Model

_ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu_tanh", "relu": "relu", "silu": "silu"}


def layer_norm(module: Model) -> LayerNormWeights:
    """A layer normalisation's weights; the shift is 0 where it has none."""
    epsilon = getattr(module, "variance_epsilon", None) or module.eps
    return LayerNormWeights(module.weight.detach(), bias_of(module), epsilon)


def bias_of(projection: Model) -> Tensor:
    """The bias of a projection, zeros where it has none."""
    weight = projection.weight
    return weight.new_zeros(len(weight)) if projection.bias is None else projection.bias.detach()


def network_of(hidden: Model, back: Model, activation: str) -> FeedForwardWeights:
    """The weights of a network of two projections.

    Args:
        activation: its name in the configuration.

    Raises:
        UnfitModel: naming the activation and those that are covered.
    """
    if activation not in _ACTIVATIONS:
        raise UnfitModel(
            f"The model's activation is {activation!r}; covered are "
            f"{', '.join(sorted(_ACTIVATIONS))}."
        )
    return FeedForwardWeights(
        input_weight=hidden.weight.detach().T,
        input_bias=bias_of(hidden),
        output_weight=back.weight.detach().T,
        output_bias=bias_of(back),
        activation=_ACTIVATIONS[activation],
    )


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
        projected[f"{name}_weight"] = of_every_head(cut, heads, axis=0)
        cut_bias = bias.detach().unflatten(0, (-1, width))
        projected[f"{name}_bias"] = of_every_head(cut_bias, heads, axis=0)
        projected["groups"] = None if len(cut) == heads else groups(len(cut), heads)
    return projected


def groups(n_groups: int, heads: int) -> tuple[int, ...]:
    """Return the index of each head's keys and values; heads of a group are adjacent."""
    return tuple(head * n_groups // heads for head in range(heads))
