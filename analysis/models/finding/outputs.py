"""Output projection of one layer's attention, and the gate of the query before it."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attended import Attended
from analysis.models.finding.attention_sides import Side
from analysis.models.finding.calls import ROUND_OFF, Call, Matrix, same
from analysis.models.finding.copied import nearest_columns
from analysis.models.finding.probe import Probe
from analysis.models.projections.query_gate import ACTIVATIONS, QueryGate


@dataclass(frozen=True)
class FoundGate:
    """Columns of a matrix whose activation scales what attention mixes."""

    side: Side
    activation: str

    def weights(self) -> QueryGate:
        """The weights of the gate, as the model holds them."""
        return QueryGate(self.side.weight, self.side.bias, self.activation)


def output_of(
    attended: Attended, calls: tuple[Call, ...], start: int, probe: Probe
) -> tuple[Matrix, FoundGate | None]:
    """Find the output projection, the matrix that is given what attention mixed; and its gate.

    Args:
        calls: those of the layer.
        start: when attention was computed.

    Raises:
        UnfitModel: if there is none.
    """
    mixed = attended.mixed.flatten(2)
    later = [call for call in calls if call.start > start]
    for call in later:
        if same(probe.by_token(call.given), mixed) and (matrix := call.matrix):
            return matrix, None
    for call in later:
        given = probe.by_token(call.given)
        if given is not None and given.shape == mixed.shape and (matrix := call.matrix):
            before = tuple(other for other in calls if other.end < call.start)
            for gate in _gates(attended.mixed, given, before, probe):
                return matrix, gate
    raise UnfitModel(
        "What attention mixes goes into a matrix neither as it is nor scaled by a gate of the "
        "query, so that no vector f(x) belongs to a token or to a pair of tokens."
    )


def _gates(
    mixed: Float[Tensor, "batch token head value_width"],
    given: Float[Tensor, "batch token column"],
    calls: tuple[Call, ...],
    probe: Probe,
) -> Iterator[FoundGate]:
    """Gates that make what a matrix was given of what attention mixed."""
    whole = mixed.flatten(2)
    wanted = (given / whole).nan_to_num().flatten(0, 1)
    for call in calls:
        made, read = probe.by_token(call.returned), probe.by_token(call.given)
        if made is None or read is None or not (matrix := call.matrix):
            continue
        for activation, act in ACTIVATIONS.items():
            factors = act(made)
            column, _, _ = nearest_columns(wanted, factors.flatten(0, 1))
            if same(whole * factors[..., column], given, ROUND_OFF):
                column = column.unflatten(0, mixed.shape[2:])
                column = column[:, :1] if (column == column[:, :1]).all() else column
                ones = torch.ones_like(column, dtype=made.dtype)
                yield FoundGate(Side(matrix, column, ones, read, made), activation)
