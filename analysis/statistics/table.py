"""Contracts of stored tables that list their columns: grain, units, laws and views."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from analysis.measures.bootstrap import LEAST_UNITS
from analysis.needs import Setting
from analysis.statistics.base import tables as base
from analysis.statistics.base.columns import TYPE_OF_ENTRY
from analysis.statistics.base.tables import (
    BY_RANK,
    EXACT,
    TO_ROUND_OFF,
    UNSTABLE_ARGMAX,
    Agreement,
    View,
)

__all__ = ["BY_RANK", "EXACT", "TO_ROUND_OFF", "TYPE_OF_ENTRY", "Agreement", "View"]
CHOSEN = UNSTABLE_ARGMAX


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

    @property
    def definition(self) -> str:
        return self.meaning


class Table(base.Table):
    """Contract of a table that lists its columns and says its grain, not yet by declaration."""

    values: tuple[Column, ...]  # type: ignore[assignment]

    def __init__(
        self,
        *,
        grain: str,
        values: tuple[Column, ...],
        raw_rows: bool = False,
        depends_on: tuple[Setting, ...] = tuple(Setting),
        **rest: Any,
    ):
        super().__init__(values={}, many_rows=raw_rows, depends_on=depends_on, **rest)
        vars(self).update(values=values, _grain=grain, columns=(*self.key, *values))

    @property
    def grain(self) -> str:
        return vars(self)["_grain"]

    @property
    def agreement(self) -> Agreement:
        has_numbers = any(_has_fractions(column.type) for column in self.columns)
        return EXACT if self.declared == TO_ROUND_OFF and not has_numbers else self.declared

    @cached_property
    def bounds(self) -> tuple[str, ...]:
        return tuple(
            f'"{column.name}" <= {column.at_most}' for column in self.columns if column.at_most
        )

    @property
    def shard_schema(self) -> pa.Schema:
        return _schema(self.raw) if self.raw else self.schema

    @property
    def of_sequences(self) -> bool:
        return SEQUENCE in self.key and not self.raw

    @property
    def raw_rows(self) -> bool:
        return self.many_rows

    def shown(self, name: str = "") -> View:
        return View(name or self.name, self.grain, self.columns, f"from stored.{self.name}")

    @property
    def all_views(self) -> tuple[View, ...]:
        if self.views and not self.shown_as:
            return self.views
        return (*self.views, self.shown(self.shown_as))


def _has_fractions(kind: pa.DataType) -> bool:
    """Return True for types of fractional numbers, or of lists of them."""
    return pa.types.is_floating(kind.value_type if pa.types.is_list(kind) else kind)


def _schema(columns: tuple[Any, ...]) -> pa.Schema:
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
