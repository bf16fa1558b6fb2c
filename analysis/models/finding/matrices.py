"""Matrices and normalisations behind the calls of modules, and columns that were copied."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from analysis.models.finding.probe import Call, Probe, same
from analysis.models.norm import LayerNormWeights, Norm, RootMeanSquareWeights, normed
from analysis.models.trace import Model

_EPSILONS = ("eps", "variance_epsilon", "epsilon")
_UNNAMED = (1e-5, 1e-6, 1e-12)
"""What a norm may add to a variance if it keeps no such number."""
ROUND_OFF = 1e-6
"""Some modules compute in float32, whatever the number format of their model."""


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


def matrix_of(call: Call) -> Matrix | None:
    """Return the linear map of a call; None if its module is no such map."""
    stored = getattr(call.module, "weight", None)
    if not isinstance(stored, Tensor) or stored.dim() != 2:
        return None
    for matrix in (Matrix(call, is_turned=True), Matrix(call, is_turned=False)):
        shape = call.given.shape[-1], call.returned.shape[-1]
        if matrix.weight.shape == shape and same(
            call.given @ matrix.weight + matrix.bias, call.returned
        ):
            return matrix
    return None


def norm_of(call: Call) -> Norm | None:
    """Return the normalisation of a call over the last axis; None if its module is none."""
    module, width = call.module, call.given.shape[-1]
    weight, bias = (getattr(module, name, None) for name in ("weight", "bias"))
    ones = call.given.new_ones(width if weight is None else weight.shape)
    if (
        next(module.children(), None) is not None
        or call.given.shape != call.returned.shape
        or call.given.shape[-ones.dim() :] != ones.shape
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


@dataclass(frozen=True)
class Copied:
    """Columns that were copied from what a call returned, each times a factor."""

    call: Call
    column: Int[Tensor, " copied"]
    factor: Float[Tensor, " copied"]


def copied_from(
    wanted: Float[Tensor, "sample copied"], calls: tuple[Call, ...], probe: Probe, rows: slice
) -> Copied | None:
    """Find the last call whose columns hold all that are wanted, up to a factor for each.

    Args:
        rows: tokens that the samples are of.
    """
    for call in reversed(calls):
        made = probe.by_token(call.returned)
        if made is None:
            continue
        found = _columns(wanted, made[:, rows].flatten(0, 1))
        if found is not None:
            return Copied(call, *found)
    return None


def _columns(
    wanted: Float[Tensor, "sample copied"], made: Float[Tensor, "sample column"]
) -> tuple[Int[Tensor, " copied"], Float[Tensor, " copied"]] | None:
    """Return each wanted column's place among those made, and its factor.

    A column is told by the ratio of two random projections, which no factor changes.
    """
    if len(wanted) != len(made):
        return None
    draw = torch.randn(2, len(made), dtype=made.dtype, generator=torch.Generator().manual_seed(0))
    draw = draw.to(made.device)
    marks, order = ((draw @ made)[0] / (draw @ made)[1]).nan_to_num().sort()
    asked = ((draw @ wanted)[0] / (draw @ wanted)[1]).nan_to_num()
    place = torch.searchsorted(marks, asked).clamp(1, max(1, len(marks) - 1))
    near = torch.stack([place - 1, place.clamp(max=len(marks) - 1)])
    column = order[near.gather(0, (marks[near] - asked).abs().argmin(0, keepdim=True))[0]]
    source = made[:, column]
    factor = (wanted * source).sum(0) / source.square().sum(0)
    if not same(wanted, source * factor, ROUND_OFF):
        return None
    return column, torch.where((factor - 1).abs() < ROUND_OFF, 1, factor)


def parameter_like(module: Model, value: Tensor) -> Tensor:
    """Return the parameter of a module that equals a value to round-off; else the value."""
    same_shape = (p.detach() for p in module.parameters() if p.shape == value.shape)
    return next((p for p in same_shape if same(p, value)), value)
