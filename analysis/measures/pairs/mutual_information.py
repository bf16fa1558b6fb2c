"""Pointwise mutual information of two tokens in a corpus."""

import numpy as np
from jaxtyping import Float, Int


def pointwise_mutual_information(
    n_pair: Int[np.ndarray, " row"],
    n_source: Int[np.ndarray, " row"],
    n_target: Int[np.ndarray, " row"],
    n_all: int,
) -> Float[np.ndarray, " row"]:
    """log2 p(w_j, w_i) / (p(w_j) p(w_i)), a draw being an ordered pair of positions of a sequence.

    Args:
        n_source: occurrences of pairs with the same source token, whatever the target.
        n_target: occurrences of pairs with the same target token, whatever the source.
        n_all: occurrences of all pairs.

    Returns:
        Bits; 0 where the tokens are found together as often as by chance.

    Source:
        church-1990, section 3.

    Differs:
        Two words go together when they stand in one sequence, at any distance.
    """
    expected = n_source.astype(np.float64) * n_target
    return np.log2(n_pair * np.float64(n_all) / expected)
