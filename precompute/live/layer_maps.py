"""Maps of the mixing of all tokens in one layer of one sequence."""

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.norms.head_token import value_norms
from analysis.measures.norms.norm_weighted_attention import norm_weighted_attention
from analysis.measures.pairs.mixing_change import row_shares
from precompute.corpora.sequence import Sequence
from precompute.live.answers import LayerMaps
from precompute.models.loaded_model import LoadedModel


def layer_maps(model: LoadedModel, sequence: Sequence, *, layer: int) -> LayerMaps:
    """All maps of one layer, counted from 1; one thread at a time."""
    traced = model.trace([sequence]).layers[layer - 1]
    mixing = layer_mixing(traced, dtype=model.hidden_dtype, gate_rule=model.gate_rule)
    weights = traced.attention[0]
    norms = value_norms(traced.values, traced.weights.output_factor)[0]
    return LayerMaps(
        scopes=row_shares(mixing.maps.numpy()),
        weights=weights.cpu().numpy(),
        norms=norm_weighted_attention(weights, norms).cpu().numpy(),
    )
