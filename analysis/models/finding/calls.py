"""Calls of modules in a forward pass, and the matrix or normalisation that each computed."""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.models.attended import Attended
from analysis.models.norm import LayerNormWeights, RootMeanSquareWeights, normed
from analysis.models.trace import Model

_EPSILONS = ("eps", "variance_epsilon", "epsilon")
_UNNAMED = (1e-5, 1e-6, 1e-12)
"""Epsilons that a norm may add to a variance if it keeps no such number."""
ROUND_OFF = 1e-6
"""Some modules compute in float32, whatever the number format of their model."""


@dataclass(frozen=True, eq=False)
class Moment:
    """Attention as it was computed once, and when."""

    attended: Attended
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a module: the first tensor of reals that it was given (empty if none) and that it
    returned, and when."""

    module: Model
    given: Tensor
    returned: Tensor
    start: int
    end: int
    returns: str = "tensor"
    """A `tensor`, a `pair` of them (as modules of cosines and sines do), or something else."""

    def holds(self, other: "Call | Moment") -> bool:
        """Return True if the other happened during this call."""
        return self.start < other.start and other.end < self.end

    @cached_property
    def matrix(self) -> "Matrix | None":
        """The linear map that was computed; None if the module is no such map."""
        return _matrix_of(self)

    @cached_property
    def norm(self) -> LayerNormWeights | RootMeanSquareWeights | None:
        """The normalisation over the last axis that was computed; None if the module is none."""
        return _norm_of(self)


@dataclass(frozen=True)
class Matrix:
    """A module that computes x @ weight + bias; `is_turned` if it keeps the weight as output ×
    input."""

    call: Call
    is_turned: bool

    @property
    def weight(self) -> Float[Tensor, "input output"]:
        stored = self.call.module.weight.detach()
        return stored.T if self.is_turned else stored

    @property
    def bias(self) -> Float[Tensor, " output"]:
        stored = getattr(self.call.module, "bias", None)
        weight = self.weight
        return weight.new_zeros(weight.shape[1]) if stored is None else stored.detach()


def _matrix_of(call: Call) -> Matrix | None:
    stored = getattr(call.module, "weight", None)
    if not isinstance(stored, Tensor) or stored.dim() != 2:
        return None
    given, returned = call.given[:1], call.returned[:1]
    for matrix in (Matrix(call, is_turned=True), Matrix(call, is_turned=False)):
        if matrix.weight.shape == (given.shape[-1], returned.shape[-1]) and same(
            given @ matrix.weight + matrix.bias, returned
        ):
            return matrix
    return None


def _norm_of(call: Call) -> LayerNormWeights | RootMeanSquareWeights | None:
    module, width = call.module, call.given.shape[-1]
    weight, bias = (getattr(module, name, None) for name in ("weight", "bias"))
    ones = call.given.new_ones(width if weight is None else weight.shape)
    if (
        next(module.children(), None) is not None
        or call.given.shape != call.returned.shape
        or call.given.shape[-ones.dim() :] != ones.shape
        or ones.dim() > max(1, call.given.dim() - 2)  # a matrix as large as a text is no norm
    ):
        return None
    named = [getattr(module, name) for name in _EPSILONS if hasattr(module, name)]
    stored = (ones,) if weight is None else (weight.detach(), weight.detach() + 1)
    shift = torch.zeros_like(ones) if bias is None else bias.detach()
    for scale in stored:
        for epsilon in named or _UNNAMED:
            for norm in (
                LayerNormWeights(scale, shift, epsilon),
                RootMeanSquareWeights(scale, epsilon),
            ):
                if same(normed(norm, call.given), call.returned, ROUND_OFF):
                    return norm
    return None


def same(one: Tensor | None, other: Tensor | None, tolerance: float = 1e-9) -> bool:
    """Return True if two tensors are equal to round-off."""
    if one is None or other is None or one.shape != other.shape:
        return False
    return bool((one - other).abs().max() <= tolerance * (1 + one.abs().max()))
