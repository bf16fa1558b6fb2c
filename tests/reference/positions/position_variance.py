"""Principal components from the covariance matrix itself."""

import numpy as np


def shares(embedding: list[list[float]]) -> list[float]:
    """Eigenvalues of the covariance of the columns over their sum, largest first."""
    columns = [list(column) for column in zip(*embedding, strict=True)]
    means = [sum(column) / len(column) for column in columns]
    covariance = [
        [
            sum((a - mean_a) * (b - mean_b) for a, b in zip(one, other, strict=True))
            for other, mean_b in zip(columns, means, strict=True)
        ]
        for one, mean_a in zip(columns, means, strict=True)
    ]
    values = np.linalg.eigvalsh(np.array(covariance))[::-1]
    return (values / values.sum()).tolist()
