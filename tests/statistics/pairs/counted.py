"""PMI of pairs from their counts, if these pairs are the whole corpus."""

import numpy as np

from analysis.measures.pairs.mutual_information import pointwise_mutual_information


def pmi_of_pairs(n: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """PMI of every pair, from the number of its occurrences."""
    of_source, of_target = (
        np.bincount(side, weights=n).astype(np.int64)[side] for side in (source, target)
    )
    return pointwise_mutual_information(n.astype(np.int64), of_source, of_target, int(n.sum()))
