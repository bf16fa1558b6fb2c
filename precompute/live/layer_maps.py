"""Maps of the mixing of all tokens in the layers of one sequence."""

from contextlib import suppress

from analysis.measures.pairs.mixing_change import row_shares
from analysis.relevance_rules import MOST_BYTES
from analysis.statistics.norms.weighing import NORM, WEIGHT
from precompute.corpora.sequence import Sequence
from precompute.live.answers import LayerMaps
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import Layer, batch_of, run_layers
from precompute.passes.relevance_maps import attention_bytes


class _Enough(Exception):
    """All layers wanted of a forward pass are there."""


class KeptLayers:
    """Maps of the layers of the last sequence that was asked for; for one thread at a time."""

    def __init__(self, model: LoadedModel) -> None:
        self._model = model
        self._key: tuple | None = None
        self._sequence: Sequence | None = None
        self._maps: dict[int, LayerMaps] = {}

    def of(self, sequence: Sequence, *, layer: int) -> LayerMaps:
        """All maps of one layer, counted from 1; of layers that were not kept, by a forward pass
        up to this one."""
        key = sequence.ids.tobytes(), sequence.segments.tobytes(), sequence.image
        if key != self._key or not self._fits(sequence):
            self._maps.clear()
        self._key, self._sequence = key, sequence
        if layer not in self._maps:
            self._run({layer})
        return self._maps[layer]

    def complete(self) -> None:
        """Compute the layers that are missing, unless they would take too much memory."""
        if self._sequence is not None and self._fits(self._sequence):
            numbers = {weights.number for weights in self._model.layers}
            self._run(numbers - self._maps.keys())

    def _fits(self, sequence: Sequence) -> bool:
        return attention_bytes(batch_of(self._model, [sequence]), 0) <= MOST_BYTES

    def _run(self, wanted: set[int]) -> None:
        def receive(layer: Layer) -> None:
            if layer.weights.number in wanted:
                self._maps[layer.weights.number] = _maps(layer)
                wanted.remove(layer.weights.number)
            if not wanted:
                raise _Enough

        if wanted and self._sequence is not None:
            with suppress(_Enough):
                run_layers(self._model, batch_of(self._model, [self._sequence]), receive)


def _maps(layer: Layer) -> LayerMaps:
    return LayerMaps(
        scopes=row_shares(layer.mixing_of(0).maps.numpy()),
        weights=layer.weighed_alone(0, WEIGHT).cpu().numpy(),
        norms=layer.weighed_alone(0, NORM).cpu().numpy(),
    )
