"""Kinds of columns: a column knows its unit, its type and its law by its kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from analysis.measures.bootstrap import LEAST_UNITS
from analysis.statistics.question import quoted
from analysis.token_types import TOKEN_TYPES

NAME = pa.dictionary(pa.int8(), pa.string())


@dataclass(frozen=True)
class Column:
    """A column: its meaning, its unit, and the values that it may have.

    Without a `type` it holds numbers: in single precision in tables that passes fill, unless it is
    `exact`, and in double precision in all others. `least` and `most` are numbers, or SQL over the
    row; they limit the length of a text or a list. `names` are all values that it may have. `null`
    ends the sentence "NULL …"; a column without it has no NULL. `sql` makes it from other columns.
    `absent` is the value of a mean in sequences that do not have its key. `quantities` are meaning
    and unit of what the row's `mean` may be of, if the column names that.
    """

    meaning: str
    unit: str = "index"
    name: str = ""
    type: pa.DataType | None = None
    least: float | str | None = None
    most: float | str | None = None
    names: tuple[str, ...] = ()
    null: str = ""
    sql: str = ""
    absent: float | None = None
    exact: bool = False
    quantities: Mapping[str, tuple[str, str]] = field(default_factory=dict, hash=False)

    def typed(self, *, single: bool) -> "Column":
        """Return the column with a type: numbers in single precision, or in double."""
        of_numbers = pa.float32() if single and not self.exact else pa.float64()
        return replace(self, type=self.type or of_numbers)

    @property
    def nullable(self) -> bool:
        return bool(self.null)

    @property
    def definition(self) -> str:
        """Return the meaning with that of NULL."""
        return f"{self.meaning}; NULL {self.null}" if self.null else self.meaning

    @property
    def is_fraction(self) -> bool:
        """Return True if it holds fractional numbers, or lists of them."""
        of = self.type
        of = of.value_type if of and pa.types.is_list(of) else of
        return of is None or pa.types.is_floating(of)

    @property
    def law(self) -> str:
        """Return the condition on every value: not NULL, one of its names, within its bounds."""
        there = "" if self.null else f'"{self.name}" is not null'
        return " and ".join(filter(None, (there, self.within(self.name))))

    def within(self, name: str) -> str:
        """Return the law of another column that holds such values; empty if there is none."""
        if self.names:
            return f'"{name}" in ({quoted(*self.names)})'
        sized = self.type and (pa.types.is_list(self.type) or pa.types.is_string(self.type))
        measured = f'len("{name}")' if sized else f'"{name}"'
        bounds = {">=": self.least, "<=": self.most}
        laws = [f"{measured} {sign} {to}" for sign, to in bounds.items() if to is not None]
        if self.is_fraction and not sized and None in bounds.values():
            laws.append(f"isfinite({measured})")
        return " and ".join(laws)


def kind(usual: str, type: pa.DataType | None = None, **bounds: Any) -> Callable[..., Column]:
    """Return a function that makes columns of a kind from their meanings."""

    def column(meaning: str, unit: str = usual, **more: Any) -> Column:
        given: dict[str, Any] = {"type": type, **bounds, **more}
        return Column(meaning, unit, **given)

    return column


ROUND_OFF = 1e-9
"""Round-off of sums in double precision."""
number = kind("number")
share = kind("share", least=0, most=1)
weight = kind("tokens", least=0)
length = kind("stream length", least=0)
ratio = kind("ratio", least=0)
nats = kind("nats")
correlation = kind("ρ", least=-1 - ROUND_OFF, most=1 + ROUND_OFF)
signed = kind("share", least=-1, most=1)
rank = kind("rank", least=0, most=1)
count = kind("index", pa.int64(), least=1)
small = kind("index", pa.uint8(), least=1)
place = kind("index", pa.int16(), least=0)
whole = kind("index", pa.int32(), least=0)
text = kind("text", pa.string())
flag = kind("yes or no", pa.bool_())
numbers = kind("share", pa.list_(pa.float32()))
places = kind("index", pa.list_(pa.int16()))


def named(meaning: str, names: tuple[str, ...], name: str = "", null: str = "") -> Column:
    """Return a column that holds one of a few names."""
    return Column(meaning, "name", name, NAME, names=names, null=null)


def with_names(columns: Mapping[str, Column]) -> tuple[Column, ...]:
    """Return columns by the names that they are given."""
    return tuple(replace(column, name=name) for name, column in columns.items())


def pooled(column: Column, null: str = "") -> Column:
    """Return a column of a key that is NULL in the rows of all its values together."""
    return replace(column, null=null or f"for all {column.name}s together")


def averaged(column: Column) -> Column:
    """Return a column of a key that is NULL in the rows of the mean over its values."""
    return pooled(column, f"for the mean over the {column.name}s")


def interval(unit: str, of: str = "") -> dict[str, Column]:
    """Return the two ends of the interval of a number, by their names."""
    return {
        f"{of}_{end}".strip("_"): number(
            f"{which} end of the 95% bootstrap interval", unit, null=f"below {LEAST_UNITS} units"
        )
        for end, which in (("low", "lower"), ("high", "upper"))
    }


OF_RUN = {
    name: f"(select {name} from stored.run)" for name in ("n_sequences", "n_layers", "n_heads")
}
"""Sizes of the run, as SQL."""
SEQ = whole(
    "sequence, counted from 0 in the order of the corpus",
    name="seq",
    most=f"{OF_RUN['n_sequences']} - 1",
)
POS = place("position in the sequence, counted from 0", name="pos")
LAYER = small("layer, counted from 1", name="layer", most=OF_RUN["n_layers"])
HEAD = small("head within its layer, counted from 1", name="head", most=OF_RUN["n_heads"])
TOKEN_TYPE = named(
    "cls, sep, comma_period, other (masked places too), register, bos or first (the first token of "
    "a causal model, unless it is special or masked)",
    TOKEN_TYPES,
    name="token_type",
)
TYPE_OF_ENTRY = """coalesce(
    any_value(token_type::varchar) filter (token_type <> 'first'),
    any_value(token_type::varchar)
)"""
"""Type of a vocabulary entry's tokens, as SQL; `first`, a place, only if it occurs nowhere else."""
