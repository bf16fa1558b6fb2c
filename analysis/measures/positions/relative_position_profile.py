"""Attention by relative position, of tokens and of patches, and the variance that it explains."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

REACH = 10
"""Offsets to either side that a profile covers."""
_ROWS = 512
"""Rows of matrices that are copied at a time."""


def diagonal_sums(matrices: Float[Tensor, "head query key"]) -> Float[Tensor, "head diagonal"]:
    """tr_t(A) = Σ_i a_{i, i+t} of square matrices, for every t from −(n − 1) to n − 1.

    Source:
        yamamoto-2023, section 3.1, eq. 7.
    """
    heads, n, _ = matrices.shape
    sums = matrices.new_zeros(heads, 2 * n - 1)
    for first in range(0, n, _ROWS):
        add_diagonals(sums, matrices[:, first : first + _ROWS], first)
    return sums


def add_diagonals(
    sums: Float[Tensor, "head diagonal"], rows: Float[Tensor, "head query key"], first: int
) -> None:
    """Add some rows of square matrices to the sums along their diagonals, which change.

    Every row is moved left by its own number, so that a diagonal becomes a column.

    Args:
        first: offset of the first of these rows from the first of these columns.

    Source:
        yamamoto-2023, section 3.1, eq. 7.
    """
    heads, m, n = rows.shape
    width = n + m
    wide = rows.new_zeros(heads, m * (width + 1))
    wide[:, : m * width].view(heads, m, width)[..., :n] = rows
    columns = wide.view(heads, m, width + 1)
    found = (rows.new_ones(heads, 1, m) @ columns).squeeze(1)  # faster than a sum over rows
    middle = sums.shape[1] // 2 - first
    sums[:, middle - m + 1 : middle] += found[:, width + 2 - m :]
    sums[:, middle : middle + n] += found[:, :n]


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


class PatchOffsets(NamedTuple):
    """Attention by offset: negative above the query and to its left. Every offset has a pair."""

    rows: Int[np.ndarray, " row_offset"]
    columns: Int[np.ndarray, " column_offset"]
    attention: Float[np.ndarray, "head row_offset column_offset"]
    per_pair: Float[np.ndarray, "head row_offset column_offset"]


def patch_offsets(
    attention: Float[Tensor, "head query key"], *, n_rows: int, n_columns: int, reach: int
) -> PatchOffsets:
    """Σ α_{(r, c), (r + s, c + t)} over the patches (r, c) of a grid, for every |s|, |t| ≤ reach.

    `attention` is divided by the number of patches: the part of a patch's attention that goes
    there. `per_pair` is divided by the number of pairs, (n_rows − |s|) (n_columns − |t|).

    Args:
        attention: of patches to patches alone, row after row.

    Source:
        yamamoto-2023, section 3.1, eq. 7.

    Differs:
        The offsets of the paper are of text, and have one dimension; these have two.
    """
    sums = _both_ways(attention.double(), n_rows, n_columns).cpu().numpy()
    rows, columns = (
        np.arange(1 - n, n)[abs(np.arange(1 - n, n)) <= reach] for n in (n_rows, n_columns)
    )
    near = sums[:, rows[0] + n_rows - 1 :, columns[0] + n_columns - 1 :]
    near = near[:, : len(rows), : len(columns)]
    n_pairs = np.outer(n_rows - abs(rows), n_columns - abs(columns))
    return PatchOffsets(rows, columns, near / (n_rows * n_columns), near / n_pairs)


def _both_ways(
    attention: Float[Tensor, "head query key"], n_rows: int, n_columns: int
) -> Float[Tensor, "head row_offset column_offset"]:
    """Sums along the diagonals of columns, then of rows, for every offset."""
    n_heads = len(attention)
    grid = attention.reshape(n_heads, n_rows, n_columns, n_rows, n_columns).transpose(2, 3)
    by_column = diagonal_sums(grid.reshape(-1, n_columns, n_columns))
    by_column = by_column.reshape(n_heads, n_rows, n_rows, -1).permute(0, 3, 1, 2)
    by_both = diagonal_sums(by_column.reshape(-1, n_rows, n_rows))
    return by_both.reshape(n_heads, 2 * n_columns - 1, -1).transpose(1, 2)
