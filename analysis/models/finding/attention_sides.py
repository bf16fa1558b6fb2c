"""Queries, keys and values of one layer: the matrices, norms and rotation that make them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attended import Attended
from analysis.models.finding.calls import ROUND_OFF, Call, Matrix, same
from analysis.models.finding.copied import copied_from
from analysis.models.finding.probe import Probe
from analysis.models.head_norm import HeadNormWeights
from analysis.models.norm import LayerNormWeights, RootMeanSquareWeights
from analysis.models.rotary import PatchRotary, Rotary


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
    """Find what makes queries, keys or values; None if it is no matrix of what attention reads.

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
        samples = before[:, rows][..., found.column].flatten(0, 1)
        found = copied_from(samples, calls, probe, rows)
    matrix = None if found is None else found.call.matrix
    if found is None or matrix is None:
        return None
    read, returned = (probe.by_token(part) for part in (matrix.call.given, matrix.call.returned))
    if read is None or returned is None:
        return None
    column, factor = (part.unflatten(0, shape) for part in (found.column, found.factor))
    return Side(matrix, column, factor, read, returned, norm)


def _head_norm(
    norm: LayerNormWeights | RootMeanSquareWeights, column: Int[Tensor, "group head_width"]
) -> HeadNormWeights:
    """Return a norm over each head, or over all heads of a token, for the columns it is read by."""
    is_centred = isinstance(norm, LayerNormWeights)
    groups, head_width = column.shape
    over_heads = norm.scale.shape == (groups * head_width,) and groups > 1
    is_shared = norm.scale.shape == (head_width,)
    place = column[0] % head_width if is_shared else column
    scale, shift = (part.flatten()[place] for part in (norm.scale, norm.shift))
    return HeadNormWeights(
        scale, norm.epsilon, over_heads, is_centred, shift if is_centred else None
    )


def rotation_of(
    query: Side, key: Side, attended: Attended, rotations: Sequence[Rotary | PatchRotary]
) -> tuple[Rotary | PatchRotary | None, Side, Side] | None:
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
            turned = [
                side.in_order(order).of_scale(rotary.scaling, rotary.planes)
                for side in (query, key)
            ]
            if _makes(rotary, turned[0], turned[1], attended, order):
                return rotary, turned[0], turned[1]
    return None


def _makes(
    rotary: Rotary | PatchRotary | None,
    query: Side,
    key: Side,
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


def output_of(attended: Attended, calls: tuple[Call, ...], probe: Probe) -> Matrix:
    """Find the output projection: the matrix that is given what attention mixed.

    Raises:
        UnfitModel: if there is none.
    """
    mixed = attended.mixed.flatten(2)
    for call in calls:
        if same(probe.by_token(call.given), mixed) and (matrix := call.matrix):
            return matrix
    raise UnfitModel(
        "What attention mixes does not go into a matrix as it "
        "is, so that no vector f(x) belongs to a token alone."
    )
