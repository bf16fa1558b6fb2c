"""Attention by relative position, and the share of its variance that position explains."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

REACH = 10
"""Offsets to either side that a profile covers."""


def diagonal_sums(matrices: Float[Tensor, "head query key"]) -> Float[Tensor, "head diagonal"]:
    """tr_t(A) = Σ_i a_{i, i+t} of square matrices, for every t from −(n − 1) to n − 1.

    Every row is moved left by its own number, so that a diagonal becomes a column.

    Source:
        yamamoto-2023, section 3.1, eq. 7.
    """
    heads, n, _ = matrices.shape
    wide = matrices.new_zeros(heads, n * (2 * n + 1))
    wide[:, : 2 * n * n].view(heads, n, 2 * n)[..., :n] = matrices
    columns = wide.view(heads, n, 2 * n + 1)
    sums = (matrices.new_ones(heads, 1, n) @ columns).squeeze(1)  # faster than a sum over rows
    return torch.cat([sums[:, n + 2 :], sums[:, :n]], dim=1)


def window(
    sums: Float[Tensor, "head diagonal"], reach: int, *, is_causal: bool
) -> Float[np.ndarray, "head offset"]:
    """The offsets −reach … reach of sums along all diagonals, in float64.

    Returns:
        0 where a text is too short to have the offset; NaN after the query of a causal model,
        which looks at no such key.

    Source:
        yamamoto-2023, section 3.1.
    """
    longest = sums.shape[1] // 2
    there = min(reach, longest)
    profile = np.zeros((len(sums), 2 * reach + 1))
    middle = sums[:, longest - there : longest + there + 1]
    profile[:, reach - there : reach + there + 1] = middle.double().cpu().numpy()
    if is_causal:
        profile[:, reach + 1 :] = np.nan
    return profile


def position_dependence(
    attention: Float[Tensor, "head query key"],
    sums: Float[Tensor, "head diagonal"],
    *,
    is_causal: bool,
    window: int | None = None,
) -> Float[np.ndarray, " head"]:
    """η²: the share of the variance of α_ij over the pairs that the offset j − i explains.

    The sum of squares between offsets over the total sum of squares. It counts all pairs of a text,
    or the visible ones of a causal or windowed model.

    Args:
        sums: along the diagonals of `attention`.

    Returns:
        0 to 1; NaN where all pairs weigh the same, so that there is nothing to explain.

    Source:
        yamamoto-2023, section 3.1, whose question it is.

    Differs:
        The paper looks at profiles alone; the correlation ratio of offsets and weights is ours.
    """
    n = attention.shape[1]
    offsets = np.arange(1 - n, n)
    seen = (offsets <= (0 if is_causal else n)) & (
        abs(offsets) <= (n if window is None else window)
    )
    of_offset, n_pairs = sums.double().cpu().numpy()[:, seen], (n - abs(offsets))[seen]
    squares = torch.linalg.vector_norm(attention, dim=-1).double().square().sum(dim=-1)
    squares = squares.cpu().numpy()
    rest = of_offset.sum(axis=1) ** 2 / n_pairs.sum()
    total = squares - rest
    between = (of_offset**2 / n_pairs).sum(axis=1) - rest
    varies = total > 64 * torch.finfo(attention.dtype).eps * squares
    share = np.divide(between, total, out=np.full_like(total, np.nan), where=varies)
    return np.clip(share, 0, 1)
