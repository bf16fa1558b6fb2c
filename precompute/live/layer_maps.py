"""What every token takes from every other in one layer of one sequence."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.norms.head_token import value_norms
from analysis.measures.norms.norm_weighted_attention import norm_weighted_attention
from analysis.measures.pairs.pair_delta import row_shares
from precompute.corpora.sequence import Sequence
from precompute.models.loaded_model import LoadedModel


@dataclass(frozen=True)
class LayerMaps:
    """Shares of every key in what each query takes; every row sums to 1.

    `scopes` stand in the order of the layer's scopes, `weights` are α of every head, and `norms`
    ‖αf(x)‖ of every head as shares of the row.
    """

    scopes: Float[np.ndarray, "scope query key"]
    weights: Float[np.ndarray, "head query key"]
    norms: Float[np.ndarray, "head query key"]


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
