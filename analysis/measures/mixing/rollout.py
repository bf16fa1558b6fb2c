"""Attention rollout: the product of row-normalised mixing maps from the input to each layer."""

import numpy as np
from jaxtyping import Float, Int

from analysis.measures.pairs.mixing_change import row_shares

DISTANCES = (0, 1, 2, 4, 8, 16, 32, 64)


def rolled_on(
    product: Float[np.ndarray, "scope query key"] | None,
    layer_map: Float[np.ndarray, "scope query key"],
) -> Float[np.ndarray, "scope query key"]:
    """Product M_l ⋯ M_1 up to a layer, the rows of each M scaled to a sum of 1.

    Entry ij is the share of token i after layer l that comes from token j of the model's input, if
    each layer passes on its input in the proportions of its map.

    Args:
        product: that up to the layer before, which is overwritten; None for the first layer.

    Returns:
        Shares; rows add up to 1.

    Source:
        abnar-2020, section 3; over norms in place of weights modarressi-2022, section 3.

    Differs:
        The first paper multiplies attention weights, the second norms of layers whose feed-forward
        network is left out but for its residual and normalisation; this takes the maps of any
        scope.
    """
    if product is None:
        return row_shares(layer_map)
    for scope, matrix in enumerate(layer_map):  # one temporary at a time
        product[scope] = row_shares(matrix) @ product[scope]
    return product


def with_residual(attention: Float[np.ndarray, "query key"]) -> Float[np.ndarray, "query key"]:
    """½ · attention + ½ · identity: the residual taken to carry as much as the attention.

    Args:
        attention: mean over the heads; rows add up to 1, or less by the share that goes to no
            token. That share passes nothing on, and `rolled_on` scales the row: the residual then
            counts for more than half.

    Source:
        abnar-2020, section 3, eq. 1.
    """
    return (attention + np.eye(len(attention), dtype=attention.dtype)) / 2


def distance_places(n_tokens: int) -> Int[np.ndarray, "query key"]:
    """Index of |i − j| in `DISTANCES`: that of the largest number not above it.

    Source:
        abnar-2020, section 3; the grouping by distance is ours.
    """
    places = np.arange(n_tokens)
    distance = np.abs(places[:, None] - places)
    return np.searchsorted(DISTANCES, distance, side="right") - 1


def shares_of_cells(
    product: Float[np.ndarray, "scope query key"], cells: Int[np.ndarray, "query key"], n_cells: int
) -> Float[np.ndarray, "scope cell"]:
    """Share of each cell of keys, summed over its keys, mean over queries.

    Args:
        cells: index of the cell of every query and key, counted from 0.

    Returns:
        Shares; 1 in sum for each scope.

    Source:
        abnar-2020, section 3; the grouping into cells is ours.
    """
    flat = product.reshape(len(product), -1)
    sums = np.stack([np.bincount(cells.ravel(), shares, n_cells) for shares in flat])
    return sums / len(cells)
