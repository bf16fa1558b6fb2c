"""What a table of the store promises: its grain, its columns, their units, what always holds."""

from dataclasses import dataclass, replace

import pyarrow as pa


@dataclass(frozen=True)
class Column:
    """One column: what it means, in which unit, and whether it may be absent (NULL)."""

    name: str
    type: pa.DataType
    meaning: str
    unit: str
    nullable: bool = False


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
    row. A table without `views` is shown as it is.
    """

    name: str
    grain: str
    key: tuple[Column, ...]
    values: tuple[Column, ...]
    source: str
    laws: tuple[str, ...] = ()
    views: tuple[View, ...] = ()
    merge: str = "from shards"
    order: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.key + self.values

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field(c.name, c.type, nullable=c.nullable) for c in self.columns])

    @property
    def sorted_by(self) -> tuple[str, ...]:
        return self.order or tuple(column.name for column in self.key)

    def shown(self, name: str = "") -> View:
        """The public view that shows this table as it is, under its own or another name."""
        return View(name or self.name, self.grain, self.columns, f"from stored.{self.name}")

    @property
    def all_views(self) -> tuple[View, ...]:
        return self.views or (self.shown(),)


def nullable(column: Column, meaning: str) -> Column:
    """The same column where NULL has a meaning of its own."""
    return replace(column, nullable=True, meaning=meaning)


SEQUENCE = Column("seq", pa.int32(), "sequence, counted from 0 in the order of the corpus", "index")
POSITION = Column("pos", pa.int16(), "position in the sequence, counted from 0", "index")
LAYER = Column("layer", pa.uint8(), "layer, counted from 1", "index")
HEAD = Column("head", pa.uint8(), "head within its layer, counted from 1", "index")
TOKEN_TYPE = Column(
    "token_type", pa.dictionary(pa.int8(), pa.string()), "cls, sep, comma_period or other", "name"
)
LAYER_OR_ALL = nullable(LAYER, "layer, counted from 1; NULL: all layers pooled")
HEAD_OR_ALL = nullable(HEAD, "head, counted from 1; NULL: all heads of the layer")
