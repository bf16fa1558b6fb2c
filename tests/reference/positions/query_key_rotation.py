"""The rotation as a whole (d+1)×(d+1) matrix, from dense decompositions, null spaces included."""

import numpy as np


def nearest(left, values, right):
    """The orthogonal T with T u_j = v_j that is nearest the identity.

    Args:
        left, right: square orthogonal matrices as a dense decomposition gives them; columns beyond
            the values that count are any basis of the null spaces.
    """
    rank = int(np.sum(values > 1e-6 * values[0]))
    known = right[:, :rank] @ left[:, :rank].T
    left_null, right_null = left[:, rank:], right[:, rank:]
    # max over orthogonal M of tr(right_null M left_nullᵀ)
    a, _, b = np.linalg.svd(right_null.T @ left_null)
    return known + right_null @ a @ b @ left_null.T


def random_orthogonal(n, random):
    """A matrix drawn uniformly from the orthogonal ones."""
    q, r = np.linalg.qr(random.standard_normal((n, n)))
    return q * np.sign(np.diag(r))


def any_completion(left, right, rank, random):
    """Some orthogonal T with T u_j = v_j, drawn at random."""
    turn = random_orthogonal(left.shape[1] - rank, random)
    return right[:, :rank] @ left[:, :rank].T + right[:, rank:] @ turn @ left[:, rank:].T
