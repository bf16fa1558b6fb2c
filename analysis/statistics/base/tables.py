"""Contracts of stored tables: a table knows its key, its laws and how rows become a table.

An interrupted and resumed run, more workers, a cluster, jobs in another order: all these change no
bit. Other batches, threads or processors add up in another order, so that numbers differ by
round-off; each table declares its tolerance.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Int, Int32

from analysis.measures.bootstrap import Redraws, redraws
from analysis.needs import Need, Setting
from analysis.scopes import LayerOrder
from analysis.statistics.base.columns import POS, SEQ, Column, with_names


@dataclass(frozen=True)
class Agreement:
    """Largest difference between the same numbers of two runs, as a share of the column's largest.

    `tolerance` is None where one bit can decide a discrete choice; `meaning` describes it in words.
    """

    tolerance: float | None
    meaning: str


EXACT = Agreement(0.0, "to the bit")
TO_ROUND_OFF = Agreement(1e-5, "to 1e-5 of the largest number of a column")
BY_RANK = Agreement(0.02, "to 0.02, since what is nearly equal may change places among the ranks")
UNSTABLE_ARGMAX = Agreement(
    None, "as far as choices between what is nearly equal fall the same way"
)


_WORDS = {"seq": "sequence", "pos": "position"}


def grain_of(key: Iterable[Column], note: str = "") -> str:
    """Return what a row with a key is of, and what the key does not say."""
    *words, last = [_WORDS.get(one.name, one.name.replace("_", " ")) for one in key] or [""]
    of = " and ".join(filter(None, (", ".join(words), last)))
    return "; ".join(filter(None, (f"one row per {of}" if of else "one row", note)))


@dataclass(frozen=True)
class View:
    """Public interface for readers: its columns and the query that makes them."""

    name: str
    grain: str
    columns: tuple[Column, ...]
    sql: str


@dataclass(frozen=True)
class Part:
    """View of some columns of its table, or of some rows; its note is the table's unless given."""

    name: str
    leave_out: tuple[str, ...]
    where: str = "true"
    note: str | None = None


def view(
    name: str, key: Iterable[Column], values: Mapping[str, Column], *, sql: str, note: str = ""
) -> View:
    """Declare a view by its key and values, as a table."""
    key = tuple(key)
    columns = tuple(column.typed(single=False) for column in (*key, *with_names(values)))
    return View(name, grain_of(key, note), columns, sql)


@dataclass(frozen=True, eq=False)
class Table:
    """A stored table, sorted by its `key`, which is unique, unless `order` says otherwise.

    Values with `sql` are in its view alone. `note` is what the key does not say of its rows.
    `laws` are conditions on several columns of a row; those on one column follow from its kind.
    `needs` lists the requirements for any rows. `views` are public beside its own view, which has
    the name `shown_as`, or that of the table unless one of `views` has it.

    `merge` turns the rows of all `shards` into the table; of a table that is `counted` it adds up
    whole numbers. Shards hold rows of the table, merged once already, unless `raw` lists other
    columns; then the store merges one value of the column `piece` after the other, so that each
    sort and group fits into memory. Beyond the bounds of a file, a table with the sequence in its
    key keeps a sample, of fewer sequences if it has `many_rows` of each, or one row of each block
    by the query `per_block`; and raw ones lose the `rarest` groups. Fits read all rows.

    `made_by` makes a table from those that it `requires`; else a pass fills it, from the weights
    alone if `of_model`. `version` rises when its numbers change. `depends_on` lists the settings
    of a run that its numbers depend on beyond model, corpus, seed and number format.

    `declared` is the tolerance between runs that add up in another order. `round_off` names columns
    that measure round-off, for which there is no tolerance.
    """

    name: str
    _: KW_ONLY
    key: tuple[Column, ...]
    values: Mapping[str, Column]
    source: str
    note: str = ""
    laws: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    views: tuple[View | Part, ...] = ()
    shown_as: str = ""
    order: tuple[str, ...] = ()
    merge: str = "from shards"
    counted: bool = False
    raw: tuple[Column, ...] = ()
    piece: str = ""
    many_rows: bool = False
    per_block: str = ""
    rarest: tuple[str, ...] = ()
    declared: Agreement = TO_ROUND_OFF
    round_off: tuple[str, ...] = ()
    depends_on: tuple[Setting, ...] = ()
    version: int = 1
    requires: tuple[str, ...] = ()
    made_by: "Fit | None" = None
    of_model: bool = False

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Return the stored columns."""
        stored = (column for column in with_names(self.values) if not column.sql)
        return self._typed((*self.key, *stored))

    def _typed(self, columns: Iterable[Column]) -> tuple[Column, ...]:
        """Give numbers their precision: single where passes fill a table, with many rows."""
        return tuple(column.typed(single=self.of_layers) for column in columns)

    @property
    def of_layers(self) -> bool:
        """Return True if a pass over the corpus fills it, as opposed to weights or a fit."""
        return self.made_by is None and not self.of_model

    @property
    def of_sequences(self) -> bool:
        """Return True if it has rows of single sequences, which a file may sample."""
        return SEQ in self.key and not self.raw

    @property
    def raw_rows(self) -> bool:
        """Return True if it has many rows of each sequence, as of each token."""
        return self.many_rows or (self.of_sequences and POS in self.key)

    @property
    def sorted_by(self) -> tuple[str, ...]:
        return self.order or tuple(f'"{column.name}"' for column in self.key)

    @property
    def agreement(self) -> Agreement:
        """Return the declared tolerance; exact for tables of whole numbers and names."""
        fractions = any(column.is_fraction for column in self.columns)
        return EXACT if self.declared == TO_ROUND_OFF and not fractions else self.declared

    @property
    def grain(self) -> str:
        """Return what a row is of: the key in words, and the note."""
        return grain_of(self.key, self.note)

    @cached_property
    def bounds(self) -> tuple[str, ...]:
        """Return the law of every column, and of the ends of every interval."""
        names = {column.name for column in self.columns}
        lows = (name for name in names if name.endswith("low"))
        ends = {low: f"{low.removesuffix('low')}high" for low in sorted(lows)}
        ordered = (f'"{low}" <= "{high}"' for low, high in ends.items() if high in names)
        return (*filter(None, (column.law for column in self.columns)), *ordered)

    @property
    def schema(self) -> pa.Schema:
        return _schema(self.columns)

    @property
    def shard_columns(self) -> tuple[Column, ...]:
        """Return the columns of shards, which are others if they hold `raw` rows."""
        return self._typed(self.raw) or self.columns

    @property
    def shard_schema(self) -> pa.Schema:
        return _schema(self.shard_columns)

    def shown(self, name: str = "") -> View:
        """Return the view of the table itself, with the computed columns, by its name or
        another."""
        more = tuple(column for column in with_names(self.values) if column.sql)
        computed = "".join(f", {column.sql} as {column.name}" for column in more)
        sql = f"select *{computed} from stored.{self.name}"
        typed = (*self.columns, *(column.typed(single=False) for column in more))
        return View(name or self.name, self.grain, typed, sql)

    @property
    def all_views(self) -> tuple[View, ...]:
        is_hidden = not self.shown_as and self.name in (view.name for view in self.views)
        own = () if is_hidden else (self.shown(self.shown_as),)
        views = (self._part(view) if isinstance(view, Part) else view for view in self.views)
        return (*own, *views)

    def _part(self, part: Part) -> View:
        columns = tuple(column for column in self.columns if column.name not in part.leave_out)
        names = ", ".join(f'"{column.name}"' for column in columns)
        key = [column for column in self.key if column.name not in part.leave_out]
        grain = grain_of(key, self.note if part.note is None else part.note)
        sql = f"select {names} from stored.{self.name} where {part.where}"
        return View(part.name, grain, columns, sql)

    def rows(self, frames: Iterable[pd.DataFrame]) -> pa.Table:
        """Return frames in the types of the table; a column that a frame lacks is NULL there."""
        schema = self.schema
        parts = [
            pa.Table.from_pandas(
                frame.assign(**dict.fromkeys(set(schema.names) - set(frame))),
                schema=schema,
                preserve_index=False,
            )
            for frame in frames
            if len(frame)
        ]
        return pa.concat_tables([schema.empty_table(), *parts])


class Vectors(Protocol):
    """Static vectors of words, and the name of their file."""

    @property
    def name(self) -> str: ...

    @property
    def vectors(self) -> Mapping[str, np.ndarray]: ...

    def of(self, form: str) -> np.ndarray | None: ...


@dataclass(frozen=True)
class FitContext:
    """Context of a fit beside the store: the run's seed, layer order and given files.

    The store's table `blocks` has the block of each sequence: its own block if sequences are few.
    `documents` holds a number for the document of each block; None if each is its own document.
    """

    seed: int
    order: LayerOrder
    frequency_ranks: Mapping[str, np.ndarray]
    word_vectors: Vectors | None = None
    documents: Int32[np.ndarray, " block"] | None = None
    _last: dict[bytes, Redraws] = field(default_factory=dict)

    def redraws(self, blocks: Int[np.ndarray, " value"]) -> Redraws:
        """Resamples of some blocks of sequences; windows of one document are resampled together.

        The last resamples are cached: most queries of a fit are about the same blocks.
        """
        units = blocks if self.documents is None else self.documents[blocks]
        asked = units.tobytes()
        if asked not in self._last:
            self._last.clear()
            self._last[asked] = redraws(units, seed=self.seed)
        return self._last[asked]


Fit = Callable[[Table, DuckDBPyConnection, FitContext], pa.Table]
"""Function that makes a table from those that it requires; layers and heads count from 1."""


def _schema(columns: Iterable[Column]) -> pa.Schema:
    return pa.schema([pa.field(c.name, c.type, nullable=c.nullable) for c in columns])


def derived(name: str, *, of: Table, **more: Any) -> Table:
    """Declare a table made from another, whose source and needs it has unless told otherwise."""
    return Table(name, **{"source": of.source, "needs": of.needs, "requires": (of.name,)} | more)


def query(sql: str) -> Fit:
    """Return the fit of a table that is one query."""

    def fit(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        return store.sql(sql).to_arrow_table().select(table.schema.names).cast(table.schema)

    return fit


def added_up(key: str, counted: str, *sums: str, others: tuple[str, ...] = ()) -> str:
    """Return a merge that adds up a count and sums by a key, with columns made otherwise."""
    added = (f"sum({name}) as {name}" for name in sums)
    columns = ", ".join((key, *others, f"sum({counted})::bigint as {counted}", *added))
    return f"select {columns} from shards group by {key}"
