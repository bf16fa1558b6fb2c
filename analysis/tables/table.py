"""What a table of the store promises: its grain, its columns, their units, what always holds."""

from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from analysis.measures.bootstrap import LEAST_UNITS
from analysis.needs import Need, Setting
from analysis.tables.agreement import EXACT, TO_ROUND_OFF, Agreement

_SIZES = (
    (pa.types.is_string, "length", "strlen", 1000),
    (pa.types.is_dictionary, "length", "", 1000),
    (pa.types.is_binary, "octet_length", "octet_length", 4 * 2**20),
    (pa.types.is_list, "len", "len", 2**20),
)
"""Of types whose values differ in size: what measures one, what adds up, and how large one is at
most where its column says nothing else. Of names there are few, which nobody has to add up."""


@dataclass(frozen=True)
class Column:
    """One column: what it means, in which unit, and whether it may be absent (NULL).

    `at_most` bounds its values, as SQL over the row and the row of `run`: the letters of a text,
    the bytes of a picture, the elements of a list, else the number itself.
    """

    name: str
    type: pa.DataType
    meaning: str
    unit: str
    nullable: bool = False
    at_most: str = ""

    @property
    def bounds(self) -> tuple[str, ...]:
        """The law that no value is larger than may be; none where nothing bounds it."""
        for is_of, length, _, most in _SIZES:
            if is_of(self.type):
                return (f'{length}("{self.name}") <= {self.at_most or most}',)
        return (f'"{self.name}" <= {self.at_most}',) if self.at_most else ()

    @property
    def total(self) -> str:
        """How large all of its values are together, as SQL; empty where they are of one size."""
        adding = [adds for is_of, _, adds, _ in _SIZES if adds and is_of(self.type)]
        return f'coalesce(sum({adding[0]}("{self.name}")), 0)' if adding else ""


@dataclass(frozen=True)
class View:
    """What readers may rely on: its columns and the query that makes them."""

    name: str
    grain: str
    columns: tuple[Column, ...]
    sql: str


@dataclass(frozen=True)
class Table:
    """A contract that passes fill, the store enforces, queries rely on and pages explain.

    `merge` is the query that turns the rows of all `shards` into the table; `order` sorts it, which
    decides its size and the speed of what is asked of it. `laws` are conditions that hold of every
    row, `needs` what there must be for it to have rows. A table without `views` is shown as it is;
    one that has some is shown so too if `shown_as` names a view for it.

    Where rows are `counted`, those of the same key become one, with whole numbers that add up, and
    nothing else happens in `merge`: parts of a shard are then merged without asking it.

    Shards hold rows of the table, merged once already, unless `raw` says otherwise: then they hold
    rows of those columns, and `merge` is left to the store, one value of the column `piece` after
    the other, so that what is sorted and grouped at a time fits into memory.

    A table whose key has the sequence is bounded whatever the corpus: of more sequences than there
    are blocks the file keeps the rows of a sample, as many sequences as blocks. `raw_rows` says
    that a sequence has many rows, of which as many sequences are kept as `--raw-rows` allows.
    `per_block` is a query that keeps one row of each `block` of `shards` instead, where every
    sequence has to count. `rarest` names columns of `raw` shards: beyond `--raw-rows` the groups
    of them that have fewest rows are left out. Fits find all rows, whatever the file keeps.

    `depends_on` names the settings that its numbers depend on beyond model, corpus, seed and number
    format; all of them where nothing is declared, so that a new table is computed again too often
    rather than too seldom. A fit is handed the declared ones alone.

    `declared` says how far runs agree that add up in another order, and `round_off` names columns
    that measure round-off, of which no such thing can be said.
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

    @property
    def agreement(self) -> Agreement:
        """What is declared; a table of whole numbers and names has nothing to round off."""
        has_numbers = any(_has_fractions(column.type) for column in self.columns)
        return EXACT if self.declared == TO_ROUND_OFF and not has_numbers else self.declared

    @cached_property
    def bounds(self) -> tuple[str, ...]:
        """Laws of every row that keep a small file from holding a value that fills memory."""
        return tuple(law for column in self.columns for law in column.bounds)

    @cached_property
    def totals(self) -> tuple[str, ...]:
        """How large the values of its columns are together, as SQL, where they differ in size."""
        return tuple(column.total for column in self.columns if column.total)

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
        """Whether the table has rows of single sequences, of which a file may keep a sample."""
        return SEQUENCE in self.key and not self.raw

    @property
    def sorted_by(self) -> tuple[str, ...]:
        return self.order or tuple(f'"{column.name}"' for column in self.key)

    def shown(self, name: str = "") -> View:
        """The public view that shows this table as it is, under its own or another name."""
        return View(name or self.name, self.grain, self.columns, f"from stored.{self.name}")

    @property
    def all_views(self) -> tuple[View, ...]:
        if self.views and not self.shown_as:
            return self.views
        return (*self.views, self.shown(self.shown_as))


def _has_fractions(kind: pa.DataType) -> bool:
    """Whether a type is that of numbers with a fraction, or of lists of them."""
    return pa.types.is_floating(kind.value_type if pa.types.is_list(kind) else kind)


def _schema(columns: tuple[Column, ...]) -> pa.Schema:
    return pa.schema([pa.field(c.name, c.type, nullable=c.nullable) for c in columns])


def nullable(column: Column, meaning: str) -> Column:
    """The same column where NULL has a meaning of its own."""
    return replace(column, nullable=True, meaning=meaning)


SEQUENCE = Column(
    "seq",
    pa.int32(),
    "sequence, counted from 0 in the order of the corpus",
    "index",
    at_most="(select n_sequences - 1 from stored.run)",
)
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
"""The type of an entry of the vocabulary among its tokens, as SQL: `first`, which is a place, only
where the entry occurs nowhere else."""
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
    """The columns `low` and `high` of a number; NULL where too few units were there to redraw."""
    of_interval = f"the 95% bootstrap interval; NULL below {LEAST_UNITS} units"
    low, high = f"{of}_low".strip("_"), f"{of}_high".strip("_")
    return (
        Column(low, pa.float64(), f"lower end of {of_interval}", unit, nullable=True),
        Column(high, pa.float64(), f"upper end of {of_interval}", unit, nullable=True),
    )
