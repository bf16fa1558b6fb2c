"""Maps of the mixing of all tokens in one layer of one sequence."""

from analysis.measures.pairs.mixing_change import row_shares
from analysis.statistics.norms.weighing import NORM, WEIGHT
from precompute.corpora.sequence import Sequence
from precompute.live.answers import LayerMaps
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import Layer, batch_of, run_layers


def layer_maps(model: LoadedModel, sequence: Sequence, *, layer: int) -> LayerMaps:
    """All maps of one layer, counted from 1; one thread at a time."""
    found: list[LayerMaps] = []

    def receive(traced: Layer) -> None:
        if traced.weights.number == layer:
            found.append(_maps(traced))

    run_layers(model, batch_of(model, [sequence]), receive)
    return found[0]


def _maps(layer: Layer) -> LayerMaps:
    return LayerMaps(
        scopes=row_shares(layer.mixing_of(0).maps.numpy()),
        weights=layer.weighed_alone(0, WEIGHT).cpu().numpy(),
        norms=layer.weighed_alone(0, NORM).cpu().numpy(),
    )
