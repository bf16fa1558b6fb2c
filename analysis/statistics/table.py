"""Contracts of stored tables: grain, columns, units, laws, and tolerances between two runs.

An interrupted and resumed run, more workers, a cluster, jobs in another order: all these change no
bit. Other batches, threads or processors add up in another order, so that numbers differ by
round-off; each table declares its tolerance.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from analysis.measures.bootstrap import LEAST_UNITS
from analysis.needs import Need, Setting
from analysis.statistics.fit import Fit


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
CHOSEN = Agreement(None, "as far as choices between what is nearly equal fall the same way")


@dataclass(frozen=True)
class Column:
    """One column: its meaning and unit, and whether it may be NULL.

    `at_most` is the largest value, as SQL over the row and the row of `run`. `quantities` are what
    the column names if it says of which quantity the row's `mean` is: meaning and unit by name.
    """

    name: str
    type: pa.DataType
    meaning: str
    unit: str
    nullable: bool = False
    at_most: str = ""
    quantities: Mapping[str, tuple[str, str]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class View:
    """Public interface for readers: its columns and the query that makes them."""

    name: str
    grain: str
    columns: tuple[Column, ...]
    sql: str


@dataclass(frozen=True)
class Table:
    """A stored table as a contract between the passes that fill it, the store, queries and pages.

    `merge` is the query that turns the rows of all `shards` into the table. `order` sorts it, which
    decides its size and the speed of queries. `laws` are conditions that hold for every row.
    `needs` lists the requirements for any rows. A table without `views` is public as it is; a table
    with views is public too if `shown_as` names a view for it.

    If rows are `counted`, rows with the same key become one by adding whole numbers, and `merge`
    does nothing else: parts of a shard are then merged without that query.

    Shards hold rows of the table, merged once already, unless `raw` lists other columns. Then they
    hold rows of those columns, and the store runs `merge` for one value of the column `piece` after
    the other, so that each sort and group fits into memory.

    A table with the sequence in its key has a limited size: with more sequences than blocks the
    file keeps the rows of a sample, as many sequences as blocks. `raw_rows` marks tables with many
    rows per sequence; `--raw-rows` then limits the sequences. `per_block` is a query that keeps one
    row of each `block` of `shards` instead, for numbers over all sequences. `rarest` names columns
    of `raw` shards: beyond `--raw-rows` the groups of these columns with fewest rows are left out.
    Fits read all rows, whatever the file keeps.

    `version` rises whenever its numbers change, so that they are computed again.

    A table is filled in one of three ways. `made_by` makes it from the tables that it `requires`
    (a fit). Else a pass of `precompute.passes` fills it: if `of_model`, from the weights alone, and
    if not, from the layers of every batch of the corpus; what it `requires` then is computed along
    with it.

    `depends_on` lists the settings that its numbers depend on beyond model, corpus, seed and number
    format; the default is all of them, so that a new table is recomputed too often rather than too
    seldom. A fit receives the declared ones alone.

    `declared` is the tolerance between runs that add up in another order. `round_off` names columns
    that measure round-off, for which there is no tolerance.
    """

    name: str
    grain: str
    key: tuple[Column, ...]
    values: tuple[Column, ...]
    source: str
    laws: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    views: tuple[View, ...] = ()
    shown_as: str = ""
    merge: str = "from shards"
    counted: bool = False
    order: tuple[str, ...] = ()
    raw: tuple[Column, ...] = ()
    piece: str = ""
    raw_rows: bool = False
    per_block: str = ""
    rarest: tuple[str, ...] = ()
    declared: Agreement = TO_ROUND_OFF
    round_off: tuple[str, ...] = ()
    depends_on: tuple[Setting, ...] = tuple(Setting)
    version: int = 1
    requires: tuple[str, ...] = ()
    made_by: Fit | None = None
    of_model: bool = False

    @property
    def of_layers(self) -> bool:
        """Return True if a pass over the corpus fills the table, as opposed to weights or a fit."""
        return self.made_by is None and not self.of_model

    @property
    def agreement(self) -> Agreement:
        """Return the declared tolerance; exact for tables of whole numbers and names."""
        has_numbers = any(_has_fractions(column.type) for column in self.columns)
        return EXACT if self.declared == TO_ROUND_OFF and not has_numbers else self.declared

    @property
    def bounds(self) -> tuple[str, ...]:
        """Return the laws of the largest values of columns."""
        return tuple(
            f'"{column.name}" <= {column.at_most}' for column in self.columns if column.at_most
        )

    @property
    def shard_schema(self) -> pa.Schema:
        return _schema(self.raw) if self.raw else self.schema

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.key + self.values

    @property
    def schema(self) -> pa.Schema:
        return _schema(self.columns)

    @property
    def of_sequences(self) -> bool:
        """Return True if the table has rows of single sequences, which a file may sample."""
        return SEQUENCE in self.key and not self.raw

    @property
    def sorted_by(self) -> tuple[str, ...]:
        return self.order or tuple(f'"{column.name}"' for column in self.key)

    def shown(self, name: str = "") -> View:
        """Return the public view of this table, under its own or another name."""
        return View(name or self.name, self.grain, self.columns, f"from stored.{self.name}")

    @property
    def all_views(self) -> tuple[View, ...]:
        if self.views and not self.shown_as:
            return self.views
        return (*self.views, self.shown(self.shown_as))


def _has_fractions(kind: pa.DataType) -> bool:
    """Return True for types of fractional numbers, or of lists of them."""
    return pa.types.is_floating(kind.value_type if pa.types.is_list(kind) else kind)


def _schema(columns: tuple[Column, ...]) -> pa.Schema:
    return pa.schema([pa.field(c.name, c.type, nullable=c.nullable) for c in columns])


def nullable(column: Column, meaning: str) -> Column:
    """Return the column as nullable, with the meaning of NULL."""
    return replace(column, nullable=True, meaning=meaning)


SEQUENCE = Column(
    "seq",
    pa.int32(),
    "sequence, counted from 0 in the order of the corpus",
    "index",
    at_most="(select n_sequences - 1 from stored.run)",
)
MOST_POSITIONS = 2**15
"""Tokens of a sequence that positions in 16 bits can number."""
POSITION = Column("pos", pa.int16(), "position in the sequence, counted from 0", "index")
LAYER = Column(
    "layer",
    pa.uint8(),
    "layer, counted from 1",
    "index",
    at_most="(select n_layers from stored.run)",
)
HEAD = Column(
    "head",
    pa.uint8(),
    "head within its layer, counted from 1",
    "index",
    at_most="(select n_heads from stored.run)",
)
NAME = pa.dictionary(pa.int8(), pa.string())
TOKEN_TYPE = Column(
    "token_type",
    NAME,
    "cls, sep, comma_period, other (masked places too), register, bos or first (the first token of "
    "a causal model, unless it is special or masked)",
    "name",
)
TYPE_OF_ENTRY = """coalesce(
    any_value(token_type::varchar) filter (token_type <> 'first'),
    any_value(token_type::varchar)
)"""
"""Type of a vocabulary entry's tokens, as SQL; `first`, a place, only if it occurs nowhere else."""
SCOPE = Column(
    "scope",
    NAME,
    "how much of the layer counts, one of the names of the view `scope`, from attn_w to the whole "
    "layer",
    "name",
)
EFFECT = Column(
    "effect",
    NAME,
    "which step is looked at: what stands between attention and network (res_ln, ln_res or "
    "ln_res_ln), the network (ff), or what follows it (ff_res, ff_ln), as the layer's order has it",
    "name",
)
RELATION = Column(
    "relation",
    NAME,
    "how two tokens relate: special, same_word, word_pieces, adjacent, same_segment, other_segment",
    "name",
)
LAYER_OR_ALL = nullable(LAYER, "layer, counted from 1; NULL: all layers pooled")
HEAD_OR_ALL = nullable(HEAD, "head, counted from 1; NULL: all heads of the layer")
LAYER_OR_MEAN = nullable(LAYER, "layer, counted from 1; NULL: mean over the layers")
HEAD_OR_MEAN = nullable(HEAD, "head, counted from 1; NULL: mean over the heads of the layer")
N_SEQUENCES = Column("n_sequences", pa.int64(), "sequences averaged over", "sequences")


def interval(unit: str, *, of: str = "") -> tuple[Column, Column]:
    """Return the columns `low` and `high` of a number; NULL with too few units to resample."""
    of_interval = f"the 95% bootstrap interval; NULL below {LEAST_UNITS} units"
    low, high = f"{of}_low".strip("_"), f"{of}_high".strip("_")
    return (
        Column(low, pa.float64(), f"lower end of {of_interval}", unit, nullable=True),
        Column(high, pa.float64(), f"upper end of {of_interval}", unit, nullable=True),
    )
