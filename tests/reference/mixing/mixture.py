"""kobayashi-2020, equation 7: every vector of every pair as a sum of its terms, one by one."""

import torch
from torch import Tensor


def vectors(terms: list[list[list[float]]], shares: list[list[list[float]]]) -> Tensor:
    """Vectors by query, key and coordinate."""
    n, width = len(terms), len(terms[0][0])
    sums = torch.zeros(n, n, width, dtype=torch.float64)
    for key in range(n):
        for query in range(n):
            for share, term in zip(shares[key][query], terms[key], strict=True):
                for place in range(width):
                    sums[query, key, place] += share * term[place]
    return sums
