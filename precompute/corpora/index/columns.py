"""Sequences as rows of Parquet, and back: a column for each field, of the type that it is given."""

from collections.abc import Sequence as SequenceOf
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa

from precompute.corpora.images.image_files import Source
from precompute.corpora.sequence import Sequence

_PLAIN = {int: pa.int32(), str: pa.string(), bool: pa.bool_()}
_hints = cache(get_type_hints)


def _known(hint: Any) -> Any:
    """Return the type of a value that is there, of a type that allows None."""
    is_optional = get_origin(hint) is UnionType and NoneType in get_args(hint)
    return get_args(hint)[0] if is_optional else hint


def _column(hint: Any) -> pa.DataType:
    """Return the type of a column: matrices are lists, one row after the other."""
    hint = _known(hint)
    if hint == Source:
        return pa.struct({"path": pa.string(), "content": pa.binary()})
    if is_dataclass(hint):
        return pa.struct({field.name: _column(_hints(hint)[field.name]) for field in fields(hint)})
    if hasattr(hint, "dtypes"):  # of jaxtyping
        return pa.list_(pa.type_for_alias(hint.dtypes[0]))
    if get_origin(hint) is tuple:
        return pa.list_(_column(get_args(hint)[0]))
    return pa.string() if get_origin(hint) is Literal else _PLAIN[hint]


SCHEMA = pa.schema(list(_column(Sequence))).append(pa.field("unit", pa.int32()))


def rows_of(sequences: SequenceOf[Sequence], units: SequenceOf[int]) -> pa.Table:
    """One row a sequence, with the number of the document that it is redrawn with."""
    columns = [
        pa.array([_written(getattr(sequence, field.name)) for sequence in sequences], field.type)
        for field in list(SCHEMA)[:-1]
    ]
    return pa.table([*columns, pa.array(units, pa.int32())], schema=SCHEMA)


def _written(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.ravel()
    if isinstance(value, tuple) and value and is_dataclass(value[0]):
        return list(map(_written, value))
    if isinstance(value, Path | bytes):
        return {"content": value} if isinstance(value, bytes) else {"path": str(value)}
    if is_dataclass(value):
        return {field.name: _written(getattr(value, field.name)) for field in fields(value)}
    return value


def sequences_of(rows: pa.Table) -> tuple[Sequence, ...]:
    """The sequences that some rows hold, in their order."""
    columns = {
        name: _arrays(rows[name], hint)
        if hasattr(_known(hint), "dtypes")
        else [made_of(value, hint) for value in rows[name].to_pylist()]
        for name, hint in _hints(Sequence).items()
    }
    values = zip(*columns.values(), strict=True)
    return tuple(Sequence(**dict(zip(columns, row, strict=True))) for row in values)


def _arrays(column: pa.ChunkedArray, hint: Any) -> list[np.ndarray | None]:
    """The lists of a column, each as an array; of matrices with two columns."""
    lists, shape = column.combine_chunks(), (-1, 2)[: len(_known(hint).dims)]
    values = lists.values.to_numpy(zero_copy_only=False)
    starts, there = lists.offsets.to_numpy(), lists.is_valid().to_numpy(zero_copy_only=False)
    return [
        values[start:end].copy().reshape(shape) if is_there else None
        for start, end, is_there in zip(starts, starts[1:], there, strict=False)
    ]


def made_of(value: Any, hint: Any) -> Any:
    """Make a value of a type from lists and dicts, as Parquet and JSON hold them."""
    hint = _known(hint)
    if value is None:
        return None
    if hint == Source:
        return value["content"] if value["path"] is None else Path(value["path"])
    if is_dataclass(hint):
        made: Any = hint
        return made(**{name: made_of(of, _hints(hint)[name]) for name, of in value.items()})
    if get_origin(hint) is tuple:
        member = get_args(hint)[0]
        return tuple(value if member in _PLAIN else (made_of(of, member) for of in value))
    return value
