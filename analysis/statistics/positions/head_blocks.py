"""Sums over rotary planes, or over offset buckets, by block and head, as arrays."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.measures.positions.score_share import HeadTotals, TermTotals
from analysis.statistics.positions import offset_term, rotary_plane

Totals = HeadTotals | TermTotals


class HeadBlocks(NamedTuple):
    """Sums of one head over pairs, by block.

    `cells` has the planes of the head with their frequency, or its buckets with their first_offset
    and last_offset, in the order of the sums.
    """

    layer: int
    head: int
    cells: pd.DataFrame
    totals: Totals

    def drawn(self, weights: Float[np.ndarray, "resample block"]) -> Totals:
        """Sums of resamples: each block counts as often as it is drawn."""
        return type(self.totals)(*(weights @ sums for sums in self.totals))

    def whole(self) -> Totals:
        """Sums of all blocks together, as a single resample."""
        return self.drawn(np.ones((1, len(self.totals.n_pairs))))


class _Kind(NamedTuple):
    """Layout of shards with sums by cell: their columns, those constant in a cell, and the
    conversion of a head's rows into totals."""

    shards: str
    cell: str
    constant: tuple[str, ...]
    sums: tuple[str, ...]
    totals: Callable[[pd.DataFrame], tuple[pd.DataFrame, Totals]]


def blocks_there(store: DuckDBPyConnection) -> Int[np.ndarray, " block"]:
    """Return the blocks with any such sums, the same for every head."""
    seqs = " union ".join(f"select seq from {kind.shards}" for kind in _KINDS)
    blocks = f"select distinct block from ({seqs}) join blocks using (seq) order by block"
    return store.execute(blocks).df()["block"].to_numpy()


def head_blocks(store: DuckDBPyConnection) -> Iterator[HeadBlocks]:
    """Yield every head whose scores depend on offsets, in order; one layer is in memory at a
    time."""
    for kind in _KINDS:
        constant = ", ".join(f"any_value({name}) as {name}" for name in kind.constant)
        sums = ", ".join(f'fsum("{name}") as "{name}"' for name in kind.sums)
        layers = f"select distinct layer from {kind.shards} order by layer"
        for (layer,) in store.execute(layers).fetchall():
            store.execute(
                f"""
                create or replace temp table sums_by_block as
                select head, {kind.cell}, block, {constant}, sum(n_pairs)::double as n_pairs, {sums}
                from {kind.shards} join blocks using (seq)
                where layer = $layer
                group by head, {kind.cell}, block
                order by head, {kind.cell}, block
                """,
                {"layer": layer},
            )
            heads = "select distinct head from sums_by_block order by head"
            of_head = f"from sums_by_block where head = $head order by {kind.cell}, block"
            for (head,) in store.execute(heads).fetchall():
                rows = store.execute(of_head, {"head": head}).df()
                yield HeadBlocks(layer, head, *kind.totals(rows))


def _of_planes(rows: pd.DataFrame) -> tuple[pd.DataFrame, HeadTotals]:
    """Return planes and totals of a head; unrotated coordinates have a score but no plane."""
    turned = rows[rows["plane"] != rotary_plane.UNTURNED]
    sums = {
        name: _by_block(turned, f"{name}_real") + 1j * _by_block(turned, f"{name}_imaginary")
        for name in rotary_plane.COMPLEX
    }
    return turned.drop_duplicates("plane"), HeadTotals(**sums, **_of_all_cells(rows))


def _of_buckets(rows: pd.DataFrame) -> tuple[pd.DataFrame, TermTotals]:
    sums = {name: _by_block(rows, name) for name in offset_term.SUMS if name != "score"}
    return rows.drop_duplicates("bucket"), TermTotals(**sums, **_of_all_cells(rows))


def _by_block(rows: pd.DataFrame, name: str) -> np.ndarray:
    """Return the sums of each block as a row, from rows ordered by cell, then block."""
    return rows[name].to_numpy().reshape(-1, rows["block"].nunique()).T


def _of_all_cells(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    by_block = rows.groupby("block")
    sums = {"whole": by_block["score"].sum(), "n_pairs": by_block["n_pairs"].first()}
    return {name: values.to_numpy() for name, values in sums.items()}


_KINDS = (
    _Kind(
        "rotary_plane_shards",
        "plane",
        ("frequency",),
        (
            *(f"{name}_{part}" for name in rotary_plane.COMPLEX for part in ("real", "imaginary")),
            "score",
        ),
        _of_planes,
    ),
    _Kind(
        "offset_term_shards",
        "bucket",
        ("first_offset", "last_offset"),
        tuple(offset_term.SUMS),
        _of_buckets,
    ),
)
