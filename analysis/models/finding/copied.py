"""Columns of tensors that were copied from what a module returned."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from analysis.models.finding.calls import ROUND_OFF, Call, same
from analysis.models.finding.probe import Probe
from analysis.models.trace import Model


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
        if made is None or isinstance(call.module, nn.Identity):
            continue
        found = _columns(wanted, made[:, rows].flatten(0, 1))
        if found is not None:
            return Copied(call, *found)
    return None


def _columns(
    wanted: Float[Tensor, "sample copied"], made: Float[Tensor, "sample column"]
) -> tuple[Int[Tensor, " copied"], Float[Tensor, " copied"]] | None:
    """Return each wanted column's place among those made, and its factor; None if one has none."""
    if len(wanted) != len(made):
        return None
    column, factor, is_copied = nearest_columns(wanted, made)
    return (column, factor) if is_copied.all() else None


def nearest_columns(
    wanted: Float[Tensor, "sample copied"], made: Float[Tensor, "sample column"]
) -> tuple[Int[Tensor, " copied"], Float[Tensor, " copied"], Bool[Tensor, " copied"]]:
    """Return the place among those made of each wanted column, its factor, and whether it is that.

    A column is told by the ratio of two random projections, which no factor changes.
    """
    draw = torch.randn(2, len(made), dtype=made.dtype, generator=torch.Generator().manual_seed(0))
    draw = draw.to(made.device)
    marks, order = ((draw @ made)[0] / (draw @ made)[1]).nan_to_num().sort()
    asked = ((draw @ wanted)[0] / (draw @ wanted)[1]).nan_to_num()
    place = torch.searchsorted(marks, asked).clamp(1, max(1, len(marks) - 1))
    near = torch.stack([place - 1, place.clamp(max=len(marks) - 1)])
    column = order[near.gather(0, (marks[near] - asked).abs().argmin(0, keepdim=True))[0]]
    source = made[:, column]
    factor = ((wanted * source).sum(0) / source.square().sum(0)).nan_to_num(1.0)  # 1 for zeros
    is_copied = (wanted - source * factor).abs() <= ROUND_OFF * (1 + wanted.abs().max())
    known = torch.where((factor - 1).abs() < ROUND_OFF, 1, factor)
    return column, known, is_copied.all(dim=0)


def parameter_like(module: Model, value: Tensor) -> Tensor:
    """Return the parameter of a module that equals a value to round-off; else the value."""
    same_shape = (p.detach() for p in module.parameters() if p.shape == value.shape)
    return next((p for p in same_shape if same(p, value)), value)
