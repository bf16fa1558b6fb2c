"""kobayashi-2020, equations 9 to 11: the product written out and decomposed whole."""

import numpy as np


def affine_singular_values(
    value: np.ndarray, value_bias: np.ndarray, output: np.ndarray
) -> np.ndarray:
    """All d+1 singular values of [[W_V, 0], [b_V, 1]] · [[W_O, 0], [0, 1]]."""
    width, head_width = value.shape
    left = np.zeros((width + 1, head_width + 1))
    left[:width, :head_width] = value
    left[width, :head_width] = value_bias
    left[width, head_width] = 1
    right = np.zeros((head_width + 1, width + 1))
    right[:head_width, :width] = output
    right[head_width, width] = 1
    return np.linalg.svd(left @ right, compute_uv=False)


def linear_singular_values(value: np.ndarray, output: np.ndarray) -> np.ndarray:
    """All d singular values of W_V W_O."""
    return np.linalg.svd(value @ output, compute_uv=False)
