"""Rank correlation between attention weights and norms of transformed vectors."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.measures.bootstrap import median_with_interval
from analysis.measures.correlation_parts import correlation_parts, moments, single_units
from analysis.measures.norms.histogram_correlation import (
    can_be_ranked,
    centred_midranks,
    histogram_spearman,
)
from analysis.statistics.columns import count, number
from analysis.statistics.fit import FitContext
from analysis.statistics.parts import OF_PAIRS, part_columns, part_laws, part_values
from analysis.statistics.question import asks
from analysis.statistics.rows import rows_of
from analysis.statistics.table import (
    BY_RANK,
    HEAD_OR_ALL,
    LAYER_OR_ALL,
    TOKEN_TYPE,
    Table,
    interval,
)

_RANK = "mean rank among all pairs of the type in the file, 0 the smallest and 1 the largest"
_GROUP, _CELL = ("layer", "head", "token_type"), ("attention_bin", "norm_bin", "n")
_RANKS = ("attention_rank", "norm_rank")


class _Cells(NamedTuple):
    """Occupied cells of some heads for one token type, head after head.

    `head` is the index of a cell's head in `places`, which has layers and numbers of heads. `ranks`
    are those of α and ‖f(x)‖ among all pairs of the type.
    """

    bins: Sequence[Int[np.ndarray, " row"]]
    counts: Int[np.ndarray, " row"]
    ranks: Sequence[Float[np.ndarray, " row"]]
    head: Int[np.ndarray, " row"]
    places: list[tuple[int, int]]

    def of(self, first: int, after: int) -> "_Cells":
        """Return the cells of a range of heads."""
        rows = slice(*np.searchsorted(self.head, [first, after]))
        return _Cells(
            [bins[rows] for bins in self.bins],
            self.counts[rows],
            [ranks[rows] for ranks in self.ranks],
            self.head[rows] - first,
            self.places[first:after],
        )


def _correlations(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the rows of every token type: of heads, of layers, and of all together."""
    histogram = store.sql(f"select {', '.join((*_GROUP, *_CELL))} from attention_norm_histogram")
    rows = [
        {"token_type": token_type, **row}
        for token_type, cells in _by_type(histogram.to_arrow_table())
        for row in _rows(cells, context.seed)
    ]
    return rows_of(table, [pd.DataFrame(rows)] if rows else [])


def _by_type(histogram: pa.Table) -> Iterator[tuple[str, _Cells]]:
    """Yield every token type with its cells."""
    columns = [histogram[name].to_numpy() for name in _CELL]
    runs = defaultdict(list)
    for first, after, group in _runs(histogram):
        runs[group["token_type"]].append((slice(first, after), group["layer"], group["head"]))
    for token_type, heads in sorted(runs.items()):
        slices = [place for place, _, _ in heads]
        attention, norm, counts = (
            np.concatenate([column[place] for place in slices]) for column in columns
        )
        ranks = tuple(
            centred_midranks(bins, counts.astype(np.float64)) for bins in (attention, norm)
        )
        head = np.repeat(np.arange(len(heads)), [place.stop - place.start for place in slices])
        places = [(layer, number) for _, layer, number in heads]
        yield token_type, _Cells((attention, norm), counts, ranks, head, places)


def _runs(cells: pa.Table) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield the start and end of rows with the same layer, head and token type, and these."""
    groups = cells.select(_GROUP).combine_chunks()
    names = pc.call_function("dictionary_encode", [groups["token_type"]]).combine_chunks()
    columns = [groups["layer"], groups["head"], names.indices]
    is_new = np.zeros(max(len(cells) - 1, 0), dtype=bool)
    for column in columns:
        is_new |= np.diff(column.to_numpy()) != 0
    firsts = np.r_[0, np.flatnonzero(is_new) + 1][: len(cells)]
    after = [*firsts[1:], len(cells)]
    yield from zip(firsts, after, groups.take(firsts).to_pylist(), strict=False)


def _rows(cells: _Cells, seed: int) -> Iterator[dict[str, Any]]:
    """The rows of one token type: its heads, its layers, and all together."""
    n_heads, layers = len(cells.places), [layer for layer, _ in cells.places]
    of_heads = [_row(cells.of(head, head + 1), [], seed) for head in range(n_heads)]
    firsts = [0, *np.flatnonzero(np.diff(layers)) + 1, n_heads]
    for first, after in pairwise(map(int, firsts)):
        own = of_heads[first:after]
        for (layer, head), row in zip(cells.places[first:after], own, strict=True):
            yield {"layer": layer, "head": head, **row}
        yield {"layer": layers[first], "head": None, **_row(cells.of(first, after), own, seed)}
    yield {"layer": None, "head": None, **_row(cells, of_heads, seed)}


def _row(cells: _Cells, of_heads: list[dict[str, Any]], seed: int) -> dict[str, Any]:
    """ρ of some heads with its parts, and the distribution of the heads' own ρ.

    Args:
        of_heads: the rows of these heads; empty for a single head.
    """
    counts = cells.counts.astype(np.float64)
    attention, norm = cells.bins
    spearman = histogram_spearman(attention, norm, cells.counts)
    if spearman is None or not can_be_ranked(norm, cells.counts):
        spearman = np.nan
    own = np.array([row["spearman"] for row in of_heads] or [spearman])
    own = own[~np.isnan(own)]
    medians = zip(
        ("median", "median_low", "median_high"), median_with_interval(own, seed=seed), strict=True
    )
    ranks = {
        name: float(counts @ of_side / counts.sum() + 0.5)
        for name, of_side in zip(_RANKS, cells.ranks, strict=True)
    }
    row = {"n": int(counts.sum()), "spearman": spearman, **ranks, **dict(medians)}
    return row if np.isnan(spearman) else row | _parts(cells, counts, seed)


def _parts(cells: _Cells, counts: Float[np.ndarray, " row"], seed: int) -> dict[str, float]:
    """Split ρ within heads, between heads of a layer and between layers."""
    ranks = [centred_midranks(bins, counts) for bins in cells.bins]
    _, layer = np.unique([layer for layer, _ in cells.places], return_inverse=True)
    heads = single_units(len(cells.places), seed=seed)
    layers = single_units(int(layer.max()) + 1, seed=seed)
    parts = correlation_parts(moments(ranks, counts, cells.head), (layer,), (heads, heads, layers))
    return part_values(OF_PAIRS, parts)


TABLE = Table(
    name="attention_norm_correlation",
    grain="one row per token type: for every head, for every layer, and pooled",
    key=(LAYER_OR_ALL, HEAD_OR_ALL, TOKEN_TYPE),
    values=(
        count("n", "pairs of an attending and an attended token", "pairs"),
        number(
            "spearman",
            "Spearman's ρ of α and ‖f(x)‖; NULL where ‖f(x)‖ hardly varies or tokens are too few",
            "ρ",
            nullable=True,
        ),
        *part_columns(OF_PAIRS),
        number("attention_rank", f"{_RANK}: of α", "rank"),
        number("norm_rank", f"{_RANK}: of ‖f(x)‖", "rank"),
        number("median", "median of the heads' own ρ; NULL where none has one", "ρ", nullable=True),
        *interval("ρ", of="median"),
    ),
    source="kobayashi-2020",
    declared=BY_RANK,
    laws=(
        "n > 0",
        "spearman is null or spearman between -1 - 1e-9 and 1 + 1e-9",
        *part_laws(OF_PAIRS),
        "attention_rank between 0 and 1 and norm_rank between 0 and 1",
    ),
    depends_on=(),
    version=2,
    requires=("attention_norm_histogram",),
    made_by=_correlations,
)


@asks("""
    select * exclude (layer, head)
    from attention_norm_correlation
    where layer is not distinct from $layer and head is not distinct from $head
    order by token_type
""")
def by_type(store: DuckDBPyConnection, *, layer: int | None, head: int | None) -> pd.DataFrame:
    """Rows of one head, of one layer (head is None), or of all pooled (both None)."""
    ...
