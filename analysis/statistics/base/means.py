"""Tables made from others: means over sequences with intervals, and how numbers vary.

A sequence counts once in a mean. Memory holds one sum and one count per block of sequences and
cell of a layer, however many sequences there are.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.measures.bootstrap import means_of_sums
from analysis.statistics.base.columns import (
    LAYER,
    OF_RUN,
    SEQ,
    Column,
    averaged,
    count,
    interval,
    named,
    number,
    pooled,
    ratio,
    with_names,
)
from analysis.statistics.base.tables import FitContext, Table, View, derived, grain_of, query

SLICE = 2**17
"""Sequences per slice of a query over all sequences, so that it fits into memory."""
TOGETHER = 2**15
"""Most rows of layers that one query reads together: a query for each layer of a small table
would take longer than its rows."""
N_SEQUENCES = count("sequences that have it", "sequences", most=OF_RUN["n_sequences"])


def means(
    name: str,
    *,
    of: Table,
    by: tuple[Column, ...] = (),
    values: Mapping[str, Column] | None = None,
    over: tuple[Column, ...] = (),
    rows: str = "",
    then: Callable[[pd.DataFrame], pd.DataFrame] = lambda means: means,
    wide: str = "",
    **more: Any,
) -> Table:
    """Declare means over sequences of some quantities, each in a row with its interval.

    The `sql` of a quantity makes its number of a sequence from the rows of `of` with one key;
    without it that is their mean. A sequence without the key has no number, or that of `absent`.
    A single quantity has no column for its name, which is that of the mean.

    Args:
        by: key; that of `of` without the sequence unless given, as `values` are those of `of`.
        over: columns of the key whose mean has rows too, in which they are NULL.
        rows: what is read, as SQL: `seq`, the key and what quantities are made of.
        then: makes the rows of the table from the means.
        wide: name of a view with a column for each quantity.
        more: of the table.
    """
    by = by or tuple(column for column in of.key if column != SEQ)
    values = of.values if values is None else values
    measured, several = with_names(values), len(values) > 1
    mean = "mean" if several else measured[0].name
    key = tuple(averaged(one) if one in over else one for one in by)
    bounds = {one.name: replace(one, type=None).within(mean) for one in measured}
    if several:
        meanings = {one.name: (one.definition, one.unit) for one in measured}
        quantity = named(", ".join(values), tuple(values), name="quantity")
        key += (replace(quantity, quantities=meanings),)
        bounds = {one: f"quantity <> '{one}' or ({law})" for one, law in bounds.items() if law}
    unit = "as the quantity" if several else measured[0].unit
    meaning = "unweighted mean over the sequences that have it"
    columns = {
        mean: number(meaning if several else f"{measured[0].meaning}, mean over sequences", unit),
        **interval(unit),
        "n_sequences": N_SEQUENCES,
    }
    views = (wide_view(wide, name, key[: len(by)], measured),) if wide else ()
    return derived(
        name,
        of=of,
        key=key,
        values=columns,
        laws=(*bounds.values(), *more.pop("laws", ())),
        views=(*views, *more.pop("views", ())),
        made_by=_means(of, rows or of.name, by, over, measured, then),
        **{"note": "means over sequences", "depends_on": of.depends_on} | more,
    )


def wide_view(
    name: str,
    of: str,
    key: tuple[Column, ...],
    quantities: tuple[Column, ...],
    *,
    n: str = "n_sequences",
    where: str = "true",
) -> View:
    """Return the view of means with a column for each quantity, which may be NULL.

    Args:
        n: name of the column with the number of sequences; none if empty.
        where: condition on the rows of the table.
    """
    names = ", ".join(column.name for column in key)
    columns = [
        f"max(mean) filter (quantity = '{one.name}') as \"{one.name}\"" for one in quantities
    ]
    columns += [f"max(n_sequences) as {n}"] if n else []
    typed = (
        replace(one, null=one.null or "if none has it", type=pa.float64()) for one in quantities
    )
    counted = (replace(N_SEQUENCES, name=n),) if n else ()
    sql = f"select {names}, {', '.join(columns)} from stored.{of} where {where} group by all"
    return View(name, grain_of(key, "means over sequences"), (*key, *typed, *counted), sql)


def _means(
    of: Table,
    rows: str,
    by: tuple[Column, ...],
    over: tuple[Column, ...],
    quantities: tuple[Column, ...],
    then: Callable[[pd.DataFrame], pd.DataFrame],
) -> Any:
    """Return the fit of means, which reads few layers at a time where the key has the layer."""
    names = {SEQ.name, *(column.name for column in by)}
    is_row = names == {column.name for column in of.key} and not any(one.sql for one in quantities)
    mean, grouped = ("{}", "") if is_row else ("avg({})", "group by all")
    of_sequence = [
        f"({one.sql or mean.format(_quoted(one))})::double as {_quoted(one)}" for one in quantities
    ]
    numbers = f"""
        unpivot (
            select seq, {", ".join([*map(_quoted, by), *of_sequence])}
            from {rows} where {{some}} {grouped}
        )
        on {", ".join(map(_quoted, quantities))} into name quantity value value
    """
    lost = ", ".join(map(_quoted, over))
    mean_of = f"select * exclude ({lost}, value), avg(value) as value from ({{}}) group by all"
    layer_is_lost = LAYER.name in (column.name for column in over)
    zero = {quantity.name for quantity in quantities if quantity.absent == 0}

    def fit(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        blocks = Blocks.of(store, of.name)

        def frames() -> Iterator[pd.DataFrame]:
            for piece in layers_of(store, of.name) if LAYER.name in names else ("true",):
                found = numbers.replace("{some}", f"{piece} and {{some}}")
                if over and not layer_is_lost:
                    gather(store, "numbers", found)
                    found = "from numbers where {some}"
                    yield blocks.means(store, mean_of.replace("{}", found), context, zero)
                yield blocks.means(store, found, context, zero)
            if layer_is_lost:
                yield blocks.means(store, mean_of.replace("{}", numbers), context, zero)

        first, *others = quantities
        mean = "mean" if others else first.name
        return table.rows(then(frame.rename(columns={"mean": mean})) for frame in frames())

    return fit


def _quoted(column: Column) -> str:
    return f'"{column.name}"'


def layers_of(store: DuckDBPyConnection, table: str) -> list[str]:
    """Return conditions that cut a table into layers, several together where rows are few."""
    counted = f"select layer, count(*) from {table} group by layer order by layer nulls last"
    pieces: list[list[int]] = []  # first and last layer, and the rows of all
    for layer, n in store.sql(counted).fetchall():
        if layer is None:
            return [*map(_within, pieces), "layer is null"]
        if pieces and pieces[-1][2] + n <= TOGETHER:
            pieces[-1][1:] = [layer, pieces[-1][2] + n]
        else:
            pieces.append([layer, layer, n])
    return [*map(_within, pieces)]


def _within(piece: list[int]) -> str:
    return f"layer between {piece[0]} and {piece[1]}"


@dataclass(frozen=True)
class Blocks:
    """Blocks of the sequences that a table has: their numbers, and how many are in each."""

    numbers: Int[np.ndarray, " block"]
    sizes: Float[np.ndarray, " block"]

    @classmethod
    def of(cls, store: DuckDBPyConnection, table: str) -> "Blocks":
        sizes = f"""
            select block, count(*)::double as n from (select distinct seq from {table})
            join blocks using (seq) group by block order by block
        """
        return cls(*store.sql(sizes).fetchnumpy().values())

    def means(
        self,
        store: DuckDBPyConnection,
        query: str,
        context: FitContext,
        zero: set[str] | frozenset[str] = frozenset(),
        *,
        weight: str = "",
    ) -> pd.DataFrame:
        """Return mean, interval and number of sequences of every cell; NaN counts as no number.

        Args:
            query: with a place for a condition: seq, value, and a quantity with its key.
            zero: quantities that are 0 in a sequence without the key.
            weight: column of the query with what a value, multiplied by it, counts; each counts 1.
        """
        others = ", ".join(filter(None, ("seq", "value", weight)))
        of_cells = f"""
            select * exclude (block, total, n, present), list(block) as blocks,
                list(total) as totals, list(n) as ns, list(present) as presents
            from (
                select * exclude ({others}), fsum(value) as total,
                    sum({weight or 1})::double as n, count(*) as present
                from ({query}) join blocks using (seq)
                where not isnan(value) group by all)
            group by all order by all
        """
        frames = [store.sql(of_cells.replace("{some}", some)).df() for some in slices(store)]
        found = pd.concat(frames, ignore_index=True)  # a cell may have a row in several slices
        lists = ["blocks", "totals", "ns", "presents"]
        grouped = found.groupby([*found.columns.drop(lists)], dropna=False, observed=True)
        cells = grouped.size().index.to_frame(index=False)
        sums = np.zeros((3, len(self.numbers), len(cells)))
        for cell, block, *row in zip(grouped.ngroup(), *map(found.get, lists), strict=True):
            sums[:, np.searchsorted(self.numbers, block), cell] += row
        total, n, present = sums
        is_zero = cells["quantity"].isin(zero) if zero else False
        counted = np.where(is_zero, self.sizes[:, None], n)
        drawn = context.redraws(self.numbers)
        resampled = means_of_sums(total, counted, drawn.weights)
        low, high = drawn.interval(resampled, counted > 0)
        (mean,) = means_of_sums(total, counted, np.ones((1, len(self.numbers))))
        n_sequences = present.sum(axis=0).astype(np.int64)
        return cells.assign(mean=mean, low=low, high=high, n_sequences=n_sequences)


def slices(store: DuckDBPyConnection) -> Iterator[str]:
    """Yield conditions on `seq` that cut all sequences into slices of `SLICE` neighbours."""
    last = store.sql("select max(seq) from blocks").fetchall()[0][0] or 0
    for first in range(0, last + 1, SLICE):
        yield f"seq between {first} and {first + SLICE - 1}"


def gather(store: DuckDBPyConnection, name: str, sql: str) -> None:
    """Create a temporary table from a query with a place for a condition, slice by slice."""
    into = f"create or replace temp table {name} as"
    for some in slices(store):
        store.execute(f"{into} {sql.replace('{some}', some)}")
        into = f"insert into {name}"


def dispersion(
    name: str, *, of: Table, value: str, by: tuple[Column, ...], n: str, **more: Any
) -> Table:
    """Declare how a number varies from row to row of a table, by a key and over all rows.

    Args:
        n: what the rows are.
        more: of the table.
    """
    key = ", ".join(column.name for column in by)
    sql = f"""
        select {key}, count(*) as n, avg({value}::double) as mean,
            stddev_pop({value}::double) as std, std / nullif(mean, 0) as cv,
            min({value})::double as min, max({value})::double as max
        from {of.name}
        group by grouping sets (({key}), ())
        having count(*) > 0
    """
    mean, std, smallest, largest = (
        replace(of.values[value], meaning=meaning)
        for meaning in ("mean", "population standard deviation", "smallest", "largest")
    )
    columns = {
        "n": count(n, "tokens"),
        "mean": mean,
        "std": std,
        "cv": ratio("coefficient of variation, std / mean", null="where the mean is 0"),
        "min": smallest,
        "max": largest,
    }
    return derived(
        name,
        of=of,
        key=tuple(pooled(one) for one in by),
        values=columns,
        laws=("min <= mean * (1 + 1e-9)", "mean <= max * (1 + 1e-9)"),
        made_by=query(sql),
        **more,
    )
