"""Maps of the mixing of all tokens in a layer of one sequence."""

from contextlib import suppress

from analysis.measures.pairs.mixing_change import row_shares
from analysis.statistics.norms.weighing import NORM, WEIGHT
from precompute.corpora.sequence import Sequence
from precompute.live.answers import LayerMaps
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import Layer, batch_of, run_layers


class _Enough(Exception):
    """The layer that is wanted of a forward pass is there."""


def layer_maps(model: LoadedModel, sequence: Sequence, *, layer: int) -> LayerMaps:
    """Return all maps of one layer, counted from 1, by a forward pass up to this one."""
    found = list[LayerMaps]()

    def receive(traced: Layer) -> None:
        if traced.weights.number == layer:
            found.append(_maps(traced))
            raise _Enough

    with suppress(_Enough):
        run_layers(model, batch_of(model, [sequence]), receive)
    return found[0]


def _maps(layer: Layer) -> LayerMaps:
    return LayerMaps(
        scopes=row_shares(layer.mixing_of(0).maps.numpy()),
        weights=layer.weighed_alone(0, WEIGHT).cpu().numpy(),
        norms=layer.weighed_alone(0, NORM).cpu().numpy(),
    )
