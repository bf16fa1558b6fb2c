"""Sums behind the scores of each head by position, kernels of positions, and shares of variance.

All pairs count, however long the texts: shards keep layers × heads × (planes + 1) rows for each
sequence, or layers × heads × buckets, the last bucket for offsets beyond a model's tables. Kernels
have the offsets of `query_key_correlation`, within 64.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.measures.bootstrap import Redraws
from analysis.measures.positions.score_share import (
    PARTS,
    HeadTotals,
    TermTotals,
    position_kernel,
    score_shares,
)
from analysis.needs import Need
from analysis.statistics.base.columns import (
    HEAD,
    LAYER,
    SEQ,
    averaged,
    count,
    interval,
    length,
    number,
    place,
    share,
    with_names,
)
from analysis.statistics.base.means import layers_of
from analysis.statistics.base.tables import FitContext, Table, added_up, view
from analysis.statistics.positions.scores import BY_OFFSET

# sums behind scores by position, of rotary planes and of buckets of offsets

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
_PLANE_SUMS = {
    name: number(f"{meaning}, over pairs", "score", exact=True)
    for name, meaning in {
        **{
            f"{name}_{part}": f"{part} part of {meaning}"
            for name, meaning in COMPLEX.items()
            for part in ("real", "imaginary")
        },
        **REAL,
    }.items()
}
_N_PAIRS = count("pairs of a query and a key that are compared", "pairs")
_FREQUENCY = number("θ, by which a token further on is turned further", "radians", exact=True)
_OF_PLANE = {"frequency": _FREQUENCY, "n_pairs": _N_PAIRS, **_PLANE_SUMS}
_PLANE = place("plane of the head, counted from 1", name="plane", least=1)
_BY_PLANE = (
    LAYER,
    HEAD,
    replace(
        _PLANE,
        meaning=f"{_PLANE.meaning}; 0: what is not turned, which has a score alone",
        least=0,
    ),
)
_SHOWN_PLANES = {
    "frequency": _FREQUENCY,
    "strength": length("|E q conj(E k)|: by how much it raises a score", "score"),
    "phase": number("φ = arg(E q conj(E k))", "radians", null="where the strength is 0"),
    "preferred_offset": number(
        "φ / θ: where it raises scores most, and again after each wavelength 2π / θ",
        "tokens",
        null="without a phase or a frequency",
    ),
    "coherence": share(
        "strength over √(E|q|² E|k|²): 1, position alone; 0, content alone",
        null="where a side is 0",
    ),
    "n_pairs": _N_PAIRS,
}
ROTARY_PLANE = Table(
    "rotary_plane",
    key=_BY_PLANE,
    values=_OF_PLANE,
    source="su-2021",
    note="sums over pairs; none if the model turns no queries and keys",
    version=2,
    needs=(Need.TURNED_POSITIONS,),
    laws=(
        "query_square >= 0 and key_square >= 0",
        *(
            f"{side}_real**2 + {side}_imaginary**2 <= n_pairs * {side}_square * (1 + 1e-5) + 1e-9"
            for side in ("query", "key")
        ),
    ),
    merge=added_up(
        "layer, head, plane", "n_pairs", *_PLANE_SUMS, others=("max(frequency) as frequency",)
    ),
    raw=(SEQ, *_BY_PLANE, *with_names(_OF_PLANE)),
    piece="layer",
    views=(
        view(
            "rotary_plane",
            (LAYER, HEAD, _PLANE),
            _SHOWN_PLANES,
            note="planes in which queries and keys are turned",
            sql="""
            select layer, head, plane, frequency, strength, phase,
                phase / nullif(frequency, 0) as preferred_offset,
                least(strength / nullif(most, 0), 1) as coherence, n_pairs
            from (
                select *, sqrt(real**2 + imaginary**2) as strength,
                    case when real <> 0 or imaginary <> 0 then atan2(imaginary, real) end as phase
                from (
                    select *,
                        (query_real * key_real + query_imaginary * key_imaginary) / n_pairs**2
                            as real,
                        (query_imaginary * key_real - query_real * key_imaginary) / n_pairs**2
                            as imaginary,
                        sqrt(query_square / n_pairs * key_square / n_pairs) as most
                    from stored.rotary_plane
                    where plane > 0
                )
            )
            """,
        ),
    ),
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
_BY_BUCKET = (
    LAYER,
    HEAD,
    place("bucket of offsets, as the model counts them from 0", name="bucket"),
)
_OF_BUCKET = {
    "first_offset": place("first offset of the bucket", "tokens", least=None),
    "last_offset": place("last offset of the bucket", "tokens", least="first_offset"),
    "n_pairs": _N_PAIRS,
    **{name: number(meaning, "score", exact=True) for name, meaning in BUCKET_SUMS.items()},
}
OFFSET_TERM = Table(
    "offset_term",
    key=_BY_BUCKET,
    values=_OF_BUCKET,
    source="he-2021",
    note="sums over pairs; none if scores have no terms of offsets",
    version=2,
    needs=(Need.DISTANCE_TERMS,),
    laws=("score >= 0",),
    merge=added_up(
        "layer, head, bucket",
        "n_pairs",
        *BUCKET_SUMS,
        others=("min(first_offset) as first_offset", "max(last_offset) as last_offset"),
    ),
    raw=(SEQ, *_BY_BUCKET, *with_names(_OF_BUCKET)),
    piece="layer",
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


def _blocks(store: DuckDBPyConnection) -> Int[np.ndarray, " block"]:
    """Return the blocks with any such sums, the same for every head."""
    seqs = " union ".join(f"select seq from {table.name}_shards" for table in _TOTALS)
    blocks = f"select distinct block from ({seqs}) join blocks using (seq) order by block"
    return store.execute(blocks).df()["block"].to_numpy()


def _head_blocks(store: DuckDBPyConnection) -> Iterator[HeadBlocks]:
    """Yield every head whose scores depend on offsets, in order; few layers are in memory at a
    time."""
    for table, totals in _TOTALS.items():
        cell, shards = table.key[-1].name, f"{table.name}_shards"
        sums = ", ".join(
            f'{"any_value" if name in _CONSTANT else "fsum"}("{name}") as "{name}"'
            for name in table.values
        )
        for of_layers in layers_of(store, shards):
            store.execute(
                f"""
                create or replace temp table sums_by_block as
                select layer, head, {cell}, block, {sums}
                from {shards} join blocks using (seq)
                where {of_layers}
                group by layer, head, {cell}, block
                order by layer, head, {cell}, block
                """
            )
            heads = "select distinct layer, head from sums_by_block order by layer, head"
            of_head = f"from sums_by_block where layer = ? and head = ? order by {cell}, block"
            for layer, head in store.execute(heads).fetchall():
                rows = store.execute(of_head, [layer, head]).fetchnumpy()
                n_blocks = len(np.unique(rows["block"]))
                grids = {name: np.reshape(of, (-1, n_blocks)) for name, of in rows.items()}
                yield HeadBlocks(layer, head, *totals(grids))


def _of_planes(grids: Columns) -> tuple[Columns, HeadTotals]:
    """Return planes and totals of a head; unrotated coordinates have a score but no plane."""
    turned = grids["plane"][:, 0] > 0
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


_CONSTANT = ("frequency", "first_offset", "last_offset")
"""Columns that are the same for all blocks."""
_TOTALS: dict[Table, Callable[[Columns], tuple[Columns, Totals]]]
_TOTALS = {ROTARY_PLANE: _of_planes, OFFSET_TERM: _of_buckets}
"""Conversions of a head's columns, as grids of cells × blocks, into its cells and totals."""

# score by position alone, and the shares of position and content in scores


def _kernel_rows(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    offsets = store.sql(
        'select layer, "offset" from query_key_correlation_mean where head = 1 order by all'
    ).df()
    drawn = context.redraws(_blocks(store))
    frames = []
    for blocks in _head_blocks(store):
        of_layer = offsets["offset"][offsets["layer"] == blocks.layer].to_numpy()
        (kernel,) = _kernels(blocks.whole(), blocks.cells, of_layer)
        present = np.ones((len(drawn.units), len(of_layer)), dtype=bool)
        resampled = _kernels(blocks.drawn(drawn.weights), blocks.cells, of_layer)
        low, high = drawn.interval(resampled, present)
        columns = {"offset": of_layer, "kernel": kernel, "low": low, "high": high}
        frames.append(pd.DataFrame({"layer": blocks.layer, "head": blocks.head, **columns}))
    return table.rows(frames)


def _kernels(
    totals: Totals, cells: Columns, offsets: Int[np.ndarray, " offset"]
) -> Float[np.ndarray, "resample offset"]:
    """Return the kernel of each resample's own means; offsets of one bucket share its score."""
    n_pairs = totals.n_pairs[:, None]
    if isinstance(totals, TermTotals):
        first, last = (cells[name][:, None] for name in ("first_offset", "last_offset"))
        bucket = ((first <= offsets) & (offsets <= last)).argmax(axis=0)
        return ((totals.query + totals.key + totals.bias) / n_pairs)[:, bucket]
    means = totals.query / n_pairs * (totals.key / n_pairs).conj()
    return position_kernel(means, cells["frequency"], offsets)


POSITION_KERNEL = Table(
    "position_kernel",
    key=BY_OFFSET,
    values={
        "kernel": number(
            "the score of the mean query and the mean key: Re Σ_c E q_c conj(E k_c) e^(−iθ_c t) "
            "where they are turned, E q · P_t + E k · R_t + b_t where distances have terms",
            "score",
        ),
        **interval("score"),
    },
    source="su-2021",
    note="none if no score knows an offset",
    needs=(Need.KERNELS,),
    version=4,
    requires=("rotary_plane", "offset_term", "query_key_correlation"),
    made_by=_kernel_rows,
)


def _share_rows(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Rows of every head, and of the mean over the heads of each layer."""
    drawn = context.redraws(_blocks(store))
    rows = []
    for layer, heads in groupby(_head_blocks(store), key=lambda blocks: blocks.layer):
        shares, resampled, deviations, n_pairs = [], [], [], 0
        for blocks in heads:
            totals = blocks.whole()
            shares.append(score_shares(totals)[0])
            resampled.append(score_shares(blocks.drawn(drawn.weights)))
            n_pairs = int(totals.n_pairs[0])
            deviations.append((max(totals.whole[0], 0) / n_pairs) ** 0.5)
            at = {"layer": layer, "head": blocks.head, "n_pairs": n_pairs}
            ends = _with_ends(shares[-1], resampled[-1], drawn)
            rows.append(at | {"deviation": deviations[-1]} | ends)
        at = {"layer": layer, "head": None, "n_pairs": n_pairs}
        ends = _with_ends(_mean(shares), _mean(resampled), drawn)
        rows.append(at | {"deviation": float(np.mean(deviations))} | ends)
    return table.rows([pd.DataFrame(rows)] if rows else [])


def _mean(heads: list[np.ndarray]) -> np.ndarray:
    """Return the mean over the heads that have shares; NaN where none has."""
    shares = np.array(heads)
    there = ~np.isnan(shares)
    total, n = np.where(there, shares, 0).sum(axis=0), there.sum(axis=0)
    return np.divide(total, n, out=np.full_like(total, np.nan), where=n > 0)


def _with_ends(
    shares: Float[np.ndarray, "4"], resampled: Float[np.ndarray, "resample 4"], drawn: Redraws
) -> dict[str, float]:
    """Return the columns of the shares and of the ends of their intervals."""
    present = np.broadcast_to(~np.isnan(shares), (len(drawn.units), len(PARTS)))
    low, high = drawn.interval(resampled, present)
    columns: dict[str, float] = {}
    for part, *values in zip(PARTS, shares, low, high, strict=True):
        columns |= zip((part, f"{part}_low", f"{part}_high"), values, strict=True)
    return columns


_PARTS = {
    "position": "the score of the mean query and the mean key at their offset",
    "query": "what the query adds to that, whatever the key",
    "key": "what the key adds to that, whatever the query",
    "content": "what only both add, and all that no offset is in",
}
_ENDS = {end: column for name in PARTS for end, column in interval("share", of=name).items()}
SCORE_SHARE = Table(
    "score_share",
    key=(LAYER, averaged(HEAD)),
    values={
        "n_pairs": _N_PAIRS,
        "deviation": length("root mean square of a score less the mean of its row", "score"),
        **{
            name: number(
                f"share of the variance within rows of {meaning}",
                "share",
                null="if all keys of every query match equally",
            )
            for name, meaning in _PARTS.items()
        },
        **_ENDS,
    },
    source="su-2021",
    note="none if no score knows an offset",
    needs=(Need.KERNELS,),
    laws=(
        "(position is null) = (content is null)",
        'position is null or abs(position + "query" + "key" + content - 1) <= 1e-6',
    ),
    version=4,
    requires=("rotary_plane", "offset_term"),
    made_by=_share_rows,
)
