"""What shards hold of turned queries and keys, summed by block of sequences, head by head."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from duckdb import DuckDBPyConnection
from jaxtyping import Complex, Float, Int

from analysis.tables.positions.rotary_plane import COMPLEX, UNTURNED

_SUMS = [f"{name}_{part}" for name in COMPLEX for part in ("real", "imaginary")]


class HeadBlocks(NamedTuple):
    """The sums of one head over pairs, block by block.

    `planes` are the sums by their names in `COMPLEX`, `score` that of all planes and of what is not
    turned, which is Σ d_ij².
    """

    layer: int
    head: int
    frequencies: Float[np.ndarray, " plane"]
    n_pairs: Float[np.ndarray, " block"]
    planes: Mapping[str, Complex[np.ndarray, "block plane"]]
    score: Float[np.ndarray, " block"]

    def drawn(self, weights: Float[np.ndarray, "resample block"]) -> "HeadBlocks":
        """The same of resamples in the place of blocks: each counts as often as it is drawn."""
        planes = {name: weights @ sums for name, sums in self.planes.items()}
        n_pairs, score = weights @ self.n_pairs, weights @ self.score
        return self._replace(n_pairs=n_pairs, planes=planes, score=score)

    def whole(self) -> "HeadBlocks":
        """The same of all blocks together, as a single one."""
        return self.drawn(np.ones((1, len(self.n_pairs))))


def blocks_there(store: DuckDBPyConnection) -> Int[np.ndarray, " block"]:
    """The blocks that have any turned queries and keys: of every head the same."""
    blocks = "select distinct block from rotary_plane_shards join blocks using (seq) order by block"
    return store.execute(blocks).df()["block"].to_numpy()


def head_blocks(store: DuckDBPyConnection) -> Iterator[HeadBlocks]:
    """Every head that turns its queries and keys, in order; one layer is in memory at a time."""
    sums = ", ".join(f"fsum({name}) as {name}" for name in (*_SUMS, "score"))
    layers = "select distinct layer from rotary_plane_shards order by layer"
    for (layer,) in store.execute(layers).fetchall():
        store.execute(
            f"""
            create or replace temp table planes_by_block as
            select head, plane, block, any_value(frequency) as frequency,
                sum(n_pairs)::double as n_pairs, {sums}
            from rotary_plane_shards join blocks using (seq)
            where layer = $layer
            group by head, plane, block
            order by head, plane, block
            """,
            {"layer": layer},
        )
        heads = "select distinct head from planes_by_block order by head"
        for (head,) in store.execute(heads).fetchall():
            yield _of_head(store, layer, head)


def _of_head(store: DuckDBPyConnection, layer: int, head: int) -> HeadBlocks:
    rows = store.execute(
        "from planes_by_block where head = $head order by plane, block", {"head": head}
    ).df()
    turned = rows[rows["plane"] != UNTURNED]
    n_planes = turned["plane"].nunique()
    parts = {name: turned[name].to_numpy().reshape(n_planes, -1).T for name in _SUMS}
    by_block = rows.groupby("block")
    return HeadBlocks(
        layer,
        head,
        turned["frequency"].to_numpy().reshape(n_planes, -1)[:, 0],
        by_block["n_pairs"].first().to_numpy(),
        {name: parts[f"{name}_real"] + 1j * parts[f"{name}_imaginary"] for name in COMPLEX},
        by_block["score"].sum().to_numpy(),
    )
