"""Queries, keys and values of one layer: the matrices, norms and rotation that make them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.models.attended import Attended, of_every_head
from analysis.models.finding.calls import ROUND_OFF, Call, Matrix, same
from analysis.models.finding.copied import copied_from, nearest_columns
from analysis.models.finding.probe import Probe
from analysis.models.head_norm import HeadNormWeights
from analysis.models.norm import LayerNormWeights, RootMeanSquareWeights
from analysis.models.projections.latent import Latent
from analysis.models.rotary import PatchRotary, Rotary
from analysis.models.trace import in_dtype


@dataclass(frozen=True)
class Side:
    """Queries, keys or values of a layer: columns of a matrix, by group of heads, then a norm.

    The matrix was given `read` and returned `returned`.
    """

    matrix: Matrix
    column: Int[Tensor, "group head_width"]
    factor: Float[Tensor, "group head_width"]
    read: Float[Tensor, "batch token width"]
    returned: Float[Tensor, "batch token column"]
    norm: HeadNormWeights | None = None
    latent: "FoundLatent | None" = None
    """Input of the matrix, where that is not the input of attention."""

    @property
    def stream(self) -> Float[Tensor, "batch token width"]:
        """Input of attention."""
        return self.read if self.latent is None else self.latent.made.read

    @property
    def weight(self) -> Float[Tensor, "group width head_width"]:
        groups = _chosen(self.matrix.weight, self.column)
        return self._times(groups).unflatten(1, self.column.shape).transpose(0, 1)

    @property
    def bias(self) -> Float[Tensor, "group head_width"]:
        return self._times(_chosen(self.matrix.bias, self.column)).unflatten(0, self.column.shape)

    def _times(self, columns: Tensor) -> Tensor:
        is_one = bool((self.factor == 1).all())
        return columns if is_one else columns * self.factor.flatten().to(columns)

    def weights(self, name: str, heads: int) -> dict[str, Any]:
        """The fields of `LayerWeights` for queries, keys or values, as the model holds them."""
        weight = of_every_head(self.weight, heads, axis=0)
        fields = {
            "weight": weight,
            "bias": of_every_head(self.bias, heads, axis=0),
            "latent": self.latent and self.latent.weights(),
        }
        if self.norm is not None:
            fields["norm"] = in_dtype(_of_heads(self.norm, heads), weight.dtype)
        return {f"{name}_{field}": part for field, part in fields.items()}

    @property
    def made(self) -> Float[Tensor, "batch group token head_width"]:
        """Queries, keys or values before any rotation."""
        columns = self._times(_chosen(self.returned, self.column))
        made = columns.unflatten(-1, self.column.shape).transpose(1, 2)
        return made if self.norm is None else self.norm.normed(made)

    def in_order(self, coordinates: Int[Tensor, " head_width"]) -> "Side":
        """Return the side with its heads' coordinates in another order."""
        norm = self.norm and replace(
            self.norm,
            scale=self.norm.scale[..., coordinates],
            shift=None if self.norm.shift is None else self.norm.shift[..., coordinates],
        )
        column, factor = self.column[:, coordinates], self.factor[:, coordinates]
        return replace(self, column=column, factor=factor, norm=norm)

    def of_scale(self, scaling: float, planes: int) -> "Side":
        """Return the side without a scaling that a rotation brings, in the rotation's order."""
        factor = self.factor.clone()
        factor[:, : 2 * planes] /= scaling
        return replace(self, factor=torch.where((factor - 1).abs() < ROUND_OFF, 1, factor))


@dataclass(frozen=True)
class FoundLatent:
    """A latent: one group of columns of a matrix of what attention reads, and their norm."""

    made: Side
    norm: LayerNormWeights | RootMeanSquareWeights

    def weights(self) -> Latent:
        """The weights of the latent, as the model holds them."""
        weight = self.made.weight[0]
        return Latent(weight, self.made.bias[0], in_dtype(self.norm, weight.dtype))


@dataclass(frozen=True)
class SplitSide:
    """Keys of two sides: coordinates made of what attention reads, and the others of a latent."""

    direct: Side
    of_latent: Side
    is_direct: Bool[Tensor, " head_width"]

    @property
    def stream(self) -> Float[Tensor, "batch token width"]:
        """Input of attention."""
        return self.direct.stream

    def weights(self, name: str, heads: int) -> dict[str, Any]:
        """The fields of `LayerWeights`, in which the direct coordinates come first."""
        direct = self.direct.weights(f"direct_{name}", heads)
        fields = self.of_latent.weights(name, heads)
        bias = torch.cat([direct[f"direct_{name}_bias"], fields[f"{name}_bias"]], dim=-1)
        shared = f"direct_{name}_weight"
        return fields | {shared: direct[shared], f"{name}_bias": bias}

    @property
    def made(self) -> Float[Tensor, "batch group token head_width"]:
        """Keys before any rotation."""
        direct, others = self.direct.made, self.of_latent.made
        made = direct.new_empty(*direct.shape[:-1], len(self.is_direct))
        made[..., self.is_direct], made[..., ~self.is_direct] = direct, others
        return made

    def in_order(self, coordinates: Int[Tensor, " head_width"]) -> "SplitSide":
        """Return the side with its heads' coordinates in another order."""
        is_direct = self.is_direct[coordinates]
        place = torch.where(self.is_direct, self.is_direct.cumsum(0), (~self.is_direct).cumsum(0))
        place = place[coordinates] - 1
        return SplitSide(
            self.direct.in_order(place[is_direct]),
            self.of_latent.in_order(place[~is_direct]),
            is_direct,
        )

    def of_scale(self, scaling: float, planes: int) -> "SplitSide":
        """Return the side without a scaling that a rotation brings, in the rotation's order."""
        return replace(self, direct=self.direct.of_scale(scaling, planes))


def _of_heads(norm: HeadNormWeights | None, heads: int) -> HeadNormWeights | None:
    """Return a norm of groups for each head of a group."""
    if norm is None or norm.scale.dim() == 1:
        return norm
    shift = None if norm.shift is None else of_every_head(norm.shift, heads, axis=0)
    return replace(norm, scale=of_every_head(norm.scale, heads, axis=0), shift=shift)


def _chosen(stored: Float[Tensor, "*any column"], column: Int[Tensor, "*some"]) -> Tensor:
    """Return columns in an order; a view where they stand beside each other."""
    column = column.flatten()
    first, n_columns = int(column[0]), len(column)
    beside = torch.arange(first, first + n_columns, device=column.device)
    is_view = torch.equal(column, beside)
    return stored[..., first : first + n_columns] if is_view else stored[..., column]


def side_of(
    wanted: Float[Tensor, "batch group token head_width"],
    calls: tuple[Call, ...],
    probe: Probe,
    rows: slice,
) -> Side | None:
    """Find what makes queries, keys or values; None if it is no matrix.

    Args:
        rows: tokens by which they are recognised: the first alone where later ones are rotated.
    """
    shape = wanted.shape[1], wanted.shape[3]
    samples = wanted.transpose(1, 2)[:, rows].flatten(2).flatten(0, 1)
    found, norm = copied_from(samples, calls, probe, rows), None
    if found is not None and found.call.matrix is None:
        whole, before = found.call.norm, probe.by_token(found.call.given)
        if before is None or not isinstance(whole, LayerNormWeights | RootMeanSquareWeights):
            return None
        norm = _head_norm(whole, found.column.unflatten(0, shape))
        if norm is None:
            return None
        samples = before[:, rows][..., found.column].flatten(0, 1)
        found = copied_from(samples, calls, probe, rows)
    matrix = None if found is None else found.call.matrix
    if found is None or matrix is None:
        return None
    read, returned = (probe.by_token(part) for part in (matrix.call.given, matrix.call.returned))
    if read is None or returned is None:
        return None
    column, factor = (part.unflatten(0, shape) for part in (found.column, found.factor))
    return Side(matrix, column, factor, read, returned, norm, _latent(read, calls, probe))


def _latent(
    read: Float[Tensor, "batch token width"], calls: tuple[Call, ...], probe: Probe
) -> FoundLatent | None:
    """Find the norm and the matrix that made what a matrix is given; None if no matrix did."""
    for call in calls:
        before = probe.by_token(call.given)
        if before is None or not same(probe.by_token(call.returned), read) or call.norm is None:
            continue
        found = copied_from(before.flatten(0, 1), calls, probe, slice(None))
        matrix = None if found is None else found.call.matrix
        if found is None or matrix is None:
            continue
        stream, made = (probe.by_token(part) for part in (matrix.call.given, matrix.call.returned))
        if stream is not None and made is not None:
            side = Side(matrix, found.column[None], found.factor[None], stream, made)
            return FoundLatent(side, call.norm)
    return None


def split_side_of(
    wanted: Float[Tensor, "batch group token head_width"],
    calls: tuple[Call, ...],
    probe: Probe,
    rows: slice,
) -> SplitSide | None:
    """Find a matrix for some coordinates of all heads and a latent's for the others; else None."""
    samples = wanted.transpose(1, 2)[:, rows].flatten(0, 1)
    for call in reversed(calls):
        made = probe.by_token(call.returned)
        if made is None:
            continue
        _, _, is_copied = nearest_columns(samples.flatten(1), made[:, rows].flatten(0, 1))
        there = is_copied.unflatten(0, samples.shape[1:]).all(dim=0)
        if not there.any() or there.all():
            continue
        sides = {
            part: side_of(wanted[..., mask], calls, probe, rows)
            for part, mask in ((True, there), (False, ~there))
        }
        for is_direct, mask in ((True, there), (False, ~there)):
            direct, others = sides[is_direct], sides[not is_direct]
            if not direct or not others or direct.norm or others.norm:
                continue
            if direct.latent is None and others.latent is not None:
                return SplitSide(direct, others, mask)
    return None


def _head_norm(
    norm: LayerNormWeights | RootMeanSquareWeights, column: Int[Tensor, "group head_width"]
) -> HeadNormWeights | None:
    """Return a norm over each head, or over all heads of a token, for the columns it is read by.

    None if it is a norm of more than these columns.
    """
    is_centred = isinstance(norm, LayerNormWeights)
    groups, head_width = column.shape
    over_heads = norm.scale.shape == (groups * head_width,) and groups > 1
    is_shared = norm.scale.shape == (head_width,)
    place = column[0] % head_width if is_shared else column
    if place.max() >= norm.scale.numel():
        return None
    scale, shift = (part.flatten()[place] for part in (norm.scale, norm.shift))
    return HeadNormWeights(
        scale, norm.epsilon, over_heads, is_centred, shift if is_centred else None
    )


def rotation_of(
    query: Side,
    key: Side | SplitSide,
    attended: Attended,
    rotations: Sequence[Rotary | PatchRotary],
) -> tuple[Rotary | PatchRotary | None, Side, Side | SplitSide] | None:
    """Find the rotation between queries and keys as made and as compared.

    Returns:
        The rotation, and both sides with coordinates in its order; None if none of the rotations
        makes what was compared.
    """
    straight = torch.arange(query.column.shape[1], device=query.column.device)
    if _makes(None, query, key, attended, straight):
        return None, query, key
    for rotary in rotations:
        for order in _orders(len(straight), rotary.planes):
            order = order.to(straight.device)
            asked, offered = query.in_order(order), key.in_order(order)
            asked = asked.of_scale(rotary.scaling, rotary.planes)
            offered = offered.of_scale(rotary.scaling, rotary.planes)
            if _makes(rotary, asked, offered, attended, order):
                return rotary, asked, offered
    return None


def _makes(
    rotary: Rotary | PatchRotary | None,
    query: Side,
    key: Side | SplitSide,
    attended: Attended,
    order: Int[Tensor, " head_width"],
) -> bool:
    """Return True if rotated queries and keys are those that were compared."""
    for side, compared in ((query, attended.query), (key, attended.key)):
        turned = side.made if rotary is None else rotary.turned(side.made)
        if not same(turned, compared[..., order], ROUND_OFF):
            return False
    return True


def _orders(head_width: int, planes: int) -> Iterator[Int[Tensor, " head_width"]]:
    """Orders of a head's coordinates that bring the two of a plane to c and c + planes.

    A plane is of coordinates c and c + planes or of neighbours, at the head's start or its end.
    """
    if 2 * planes > head_width:
        return
    places = torch.arange(head_width)
    for start in dict.fromkeys((0, head_width - 2 * planes)):
        turned = places[start : start + 2 * planes]
        rest = torch.cat([places[:start], places[start + 2 * planes :]])
        yield torch.cat([turned, rest])
        yield torch.cat([turned[0::2], turned[1::2], rest])
