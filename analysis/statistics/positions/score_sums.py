"""Sums behind scores by position: of rotary planes, of offset buckets, and both by block.

All pairs count, however long the texts: shards keep layers × heads × (planes + 1) rows for each
sequence, or layers × heads × buckets, the last bucket for offsets beyond a model's tables.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.measures.positions.score_share import HeadTotals, TermTotals
from analysis.needs import Need
from analysis.statistics.columns import count, number, small
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Column, Table, View

UNTURNED = 0
_PLANE = small("plane", "plane of the head, counted from 1")
_PLANE_KEY = (LAYER, HEAD, _PLANE)
_N_PAIRS = count("n_pairs", "pairs of a query and a key that are compared", "pairs")
_FREQUENCY = number("frequency", "θ, by which a token further on is turned further", "radians")
COMPLEX = {
    "query": "Σ q_i",
    "key": "Σ k_j",
    "turn": "Σ d_ij e^(−iθ(j − i))",
    "query_turn": "Σ d_ij q_i e^(−iθ(j − i))",
    "key_turn": "Σ d_ij conj(k_j) e^(−iθ(j − i))",
}
"""Sums over pairs; d_ij is a score less the mean of its row. Each is two columns of the table."""
REAL = {
    "query_square": "Σ |q_i|²",
    "key_square": "Σ |k_j|²",
    "score": "Σ d_ij Re(q_i conj(k_j) e^(−iθ(j − i)))",
}


def _sums() -> tuple[Column, ...]:
    parts = {
        f"{name}_{part}": f"{part} part of {meaning}"
        for name, meaning in COMPLEX.items()
        for part in ("real", "imaginary")
    }
    every = {**parts, **REAL}
    return tuple(number(name, f"{meaning}, over pairs", "score") for name, meaning in every.items())


_PLANE_SUMS = _sums()
_MEAN = """
    select *, (query_real * key_real + query_imaginary * key_imaginary) / n_pairs**2 as real,
        (query_imaginary * key_real - query_real * key_imaginary) / n_pairs**2 as imaginary,
        sqrt(query_square / n_pairs * key_square / n_pairs) as most
    from stored.rotary_plane
    where plane > 0
"""
_KEY_OF_SUMS = (
    LAYER,
    HEAD,
    replace(_PLANE, meaning=f"{_PLANE.meaning}; 0: what is not turned, which has a score alone"),
)
_PLANE_VALUES = (_FREQUENCY, _N_PAIRS, *_PLANE_SUMS)
PLANES = Table(
    name="rotary_plane",
    grain="one row per layer, head and plane, and plane 0 for all that is not turned; sums over "
    "pairs; none if the model turns no queries and keys",
    key=_KEY_OF_SUMS,
    values=_PLANE_VALUES,
    source="su-2021",
    version=2,
    needs=(Need.TURNED_POSITIONS,),
    laws=(
        "plane >= 0",
        "n_pairs > 0",
        "query_square >= 0 and key_square >= 0",
        "query_real**2 + query_imaginary**2 <= n_pairs * query_square * (1 + 1e-5) + 1e-9",
        "key_real**2 + key_imaginary**2 <= n_pairs * key_square * (1 + 1e-5) + 1e-9",
    ),
    merge=f"""
        select layer, head, plane, max(frequency) as frequency,
            sum(n_pairs)::bigint as n_pairs,
            {", ".join(f"sum({column.name}) as {column.name}" for column in _PLANE_SUMS)}
        from shards
        group by layer, head, plane
    """,
    raw=(SEQUENCE, *_KEY_OF_SUMS, *_PLANE_VALUES),
    piece="layer",
    views=(
        View(
            "rotary_plane",
            "one row per layer, head and plane in which queries and keys are turned",
            (
                *_PLANE_KEY,
                _FREQUENCY,
                number("strength", "|E q conj(E k)|: by how much it raises a score", "score"),
                number(
                    "phase",
                    "φ = arg(E q conj(E k)); NULL where the strength is 0",
                    "radians",
                    nullable=True,
                ),
                number(
                    "preferred_offset",
                    "φ / θ: where it raises scores most, and again after each wavelength 2π / θ; "
                    "NULL without a phase or a frequency",
                    "tokens",
                    nullable=True,
                ),
                number(
                    "coherence",
                    "strength over √(E|q|² E|k|²): 1, position alone; 0, content alone; NULL where "
                    "a side is 0",
                    nullable=True,
                ),
                _N_PAIRS,
            ),
            f"""
            select layer, head, plane, frequency, strength, phase,
                phase / nullif(frequency, 0) as preferred_offset,
                least(strength / nullif(most, 0), 1) as coherence, n_pairs
            from (
                select *, sqrt(real**2 + imaginary**2) as strength,
                    case when real <> 0 or imaginary <> 0 then atan2(imaginary, real) end as phase
                from ({_MEAN})
            )
            """,
        ),
    ),
    depends_on=(),
)


BUCKET_SUMS = {
    "query": "Σ q_i · P_r, over all pairs",
    "key": "Σ k_j · R_r, over all pairs",
    "bias": "Σ b_r, over all pairs",
    "deviation": "Σ d_ij, over the pairs of the bucket",
    "query_part": "Σ d_ij q_i · P_r, over the pairs of the bucket",
    "key_part": "Σ d_ij k_j · R_r, over the pairs of the bucket",
    "score": "Σ d_ij², over the pairs of the bucket",
}
"""Sums over terms as they enter the softmax; d_ij is a score less the mean of its row."""
_BUCKET_KEY = (LAYER, HEAD, small("bucket", "bucket of offsets, as the model counts them from 0"))
_BUCKET_VALUES = (
    small("first_offset", "first offset of the bucket", "tokens"),
    small("last_offset", "last offset of the bucket", "tokens"),
    count("n_pairs", "pairs of a query and a key that are compared", "pairs"),
    *(number(name, meaning, "score") for name, meaning in BUCKET_SUMS.items()),
)
BUCKETS = Table(
    name="offset_term",
    grain="one row per layer, head and bucket of offsets that the head does not tell apart; sums "
    "over pairs; none if scores have no terms of offsets",
    key=_BUCKET_KEY,
    values=_BUCKET_VALUES,
    source="he-2021",
    version=2,
    needs=(Need.DISTANCE_TERMS,),
    laws=("first_offset <= last_offset", "n_pairs > 0", "score >= 0"),
    merge=f"""
        select layer, head, bucket, min(first_offset) as first_offset,
            max(last_offset) as last_offset, sum(n_pairs)::bigint as n_pairs,
            {", ".join(f"sum({name}) as {name}" for name in BUCKET_SUMS)}
        from shards
        group by layer, head, bucket
    """,
    raw=(SEQUENCE, *_BUCKET_KEY, *_BUCKET_VALUES),
    piece="layer",
    depends_on=(),
)


Totals = HeadTotals | TermTotals
Columns = Mapping[str, np.ndarray]


class HeadBlocks(NamedTuple):
    """Sums of one head over pairs, by block.

    `cells` has the frequency of every plane of the head, or first_offset and last_offset of its
    buckets, in the order of the sums.
    """

    layer: int
    head: int
    cells: Columns
    totals: Totals

    def drawn(self, weights: Float[np.ndarray, "resample block"]) -> Totals:
        """Sums of resamples: each block counts as often as it is drawn."""
        return type(self.totals)(*(weights @ sums for sums in self.totals))

    def whole(self) -> Totals:
        """Sums of all blocks together, as a single resample."""
        return self.drawn(np.ones((1, len(self.totals.n_pairs))))


class _Kind(NamedTuple):
    """Layout of shards with sums by cell: their columns, those constant in a cell, and the
    conversion of a head's columns, as grids of cells × blocks, into those and totals."""

    shards: str
    cell: str
    constant: tuple[str, ...]
    sums: tuple[str, ...]
    totals: Callable[[Columns], tuple[Columns, Totals]]


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
                rows = store.execute(of_head, {"head": head}).fetchnumpy()
                n_blocks = len(np.unique(rows["block"]))
                grids = {name: np.reshape(of, (-1, n_blocks)) for name, of in rows.items()}
                yield HeadBlocks(layer, head, *kind.totals(grids))


def _of_planes(grids: Columns) -> tuple[Columns, HeadTotals]:
    """Return planes and totals of a head; unrotated coordinates have a score but no plane."""
    turned = grids["plane"][:, 0] != UNTURNED
    of_planes = {name: grid[turned].T for name, grid in grids.items()}
    sums = {
        name: of_planes[f"{name}_real"] + 1j * of_planes[f"{name}_imaginary"] for name in COMPLEX
    }
    totals = HeadTotals(**sums, **_of_all_cells(grids))
    return {"frequency": of_planes["frequency"][0]}, totals


def _of_buckets(grids: Columns) -> tuple[Columns, TermTotals]:
    sums = {name: grids[name].T for name in BUCKET_SUMS if name != "score"}
    cells = {name: grids[name][:, 0] for name in ("first_offset", "last_offset")}
    return cells, TermTotals(**sums, **_of_all_cells(grids))


def _of_all_cells(grids: Columns) -> dict[str, np.ndarray]:
    return {"whole": grids["score"].sum(axis=0), "n_pairs": grids["n_pairs"][0]}


_KINDS = (
    _Kind(
        "rotary_plane_shards",
        "plane",
        ("frequency",),
        (
            *(f"{name}_{part}" for name in COMPLEX for part in ("real", "imaginary")),
            "score",
        ),
        _of_planes,
    ),
    _Kind(
        "offset_term_shards",
        "bucket",
        ("first_offset", "last_offset"),
        tuple(BUCKET_SUMS),
        _of_buckets,
    ),
)
