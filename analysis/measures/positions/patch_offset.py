"""Attention between patches of an image by offset in rows and columns."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor

from analysis.measures.positions.relative_position_profile import diagonal_sums


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
