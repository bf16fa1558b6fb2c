"""Sequences as rows of Parquet, and back."""

from collections.abc import Iterable
from collections.abc import Sequence as SequenceOf
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from precompute.corpora.annotated.annotation import Annotation, Mention
from precompute.corpora.images.image_files import ImageFile
from precompute.corpora.images.pictures import Picture
from precompute.corpora.sequence import Sequence

_ARRAYS = {
    "ids": pa.int32(),
    "segments": pa.uint8(),
    "token_types": pa.uint8(),
    "words": pa.int32(),
    "masked": pa.bool_(),
    "targets": pa.int32(),
    "word_spans": pa.int32(),
}
_WORDS = {
    "forms": pa.string(),
    "spaces": pa.bool_(),
    "sentences": pa.int32(),
    "governors": pa.int32(),
    "relations": pa.string(),
    "parts_of_speech": pa.string(),
    "features": pa.string(),
}
_MENTION = {
    "first": pa.int32(),
    "last": pa.int32(),
    "head": pa.int32(),
    "cluster": pa.int32(),
    "kind": pa.string(),
}
_FILE = {
    "name": pa.string(),
    "path": pa.string(),
    "content": pa.binary(),
    "sha256": pa.string(),
}
_PICTURE = {
    "file": pa.struct(list(_FILE.items())),
    "width": pa.int32(),
    "height": pa.int32(),
    "turn": pa.int32(),
    "mask": pa.struct(list(_FILE.items())),
    "is_seen": pa.bool_(),
}
_PLAIN = {"index": pa.int32(), "document": pa.int32(), "text": pa.string(), "place": pa.string()}
SCHEMA = pa.schema(
    _PLAIN
    | {name: pa.list_(of) for name, of in (_ARRAYS | _WORDS).items()}
    | {
        "tokens": pa.list_(pa.string()),
        "mentions": pa.list_(pa.struct(list(_MENTION.items()))),
        "picture": pa.struct(list(_PICTURE.items())),
        "unit": pa.int32(),
    }
)


def rows_of(sequences: SequenceOf[Sequence], units: SequenceOf[int]) -> pa.Table:
    """One row a sequence, with the number of the document that it is redrawn with."""
    columns: dict[str, list] = {
        name: [getattr(sequence, name) for sequence in sequences]
        for name in (*_PLAIN, *_ARRAYS, "tokens")
    }
    columns["word_spans"] = [
        None if spans is None else spans.ravel() for spans in columns["word_spans"]
    ]
    known = [_known_row(sequence.annotation) for sequence in sequences]
    columns |= {name: [row.get(name) for row in known] for name in (*_WORDS, "mentions")}
    columns["picture"] = [_picture_row(sequence.image) for sequence in sequences]
    columns["unit"] = list(units)
    return pa.table([pa.array(columns[field.name], field.type) for field in SCHEMA], schema=SCHEMA)


def sequences_of(rows: pa.Table) -> tuple[Sequence, ...]:
    """The sequences that some rows hold, in their order."""
    columns = {name: rows[name].to_pylist() for name in (*_PLAIN, *_WORDS, "tokens", "mentions")}
    columns |= {name: _arrays(rows[name]) for name in _ARRAYS}
    columns["picture"] = rows["picture"].to_pylist()
    return tuple(
        _sequence(dict(zip(columns, values, strict=True)))
        for values in zip(*columns.values(), strict=True)
    )


def _arrays(column: pa.ChunkedArray) -> list[np.ndarray | None]:
    """The lists of a column, each as an array."""
    lists = column.combine_chunks()
    values = lists.values.to_numpy(zero_copy_only=False)
    starts, there = lists.offsets.to_numpy(), lists.is_valid().to_numpy(zero_copy_only=False)
    return [
        values[start:end].copy() if is_there else None
        for start, end, is_there in zip(starts, starts[1:], there, strict=False)
    ]


def _sequence(row: dict[str, Any]) -> Sequence:
    spans = row["word_spans"]
    values: dict[str, Any] = {name: row[name] for name in (*_PLAIN, *_ARRAYS)}
    values["word_spans"] = None if spans is None else spans.reshape(-1, 2)
    return Sequence(
        **values,
        tokens=tuple(row["tokens"]),
        annotation=None if row["forms"] is None else _annotation(row),
        image=None if row["picture"] is None else _picture(row["picture"]),
    )


def _known_row(known: Annotation | None) -> dict[str, Any]:
    if known is None:
        return {}
    mentions = [_fields(mention, _MENTION) for mention in known.mentions]
    return _fields(known, _WORDS) | {"mentions": mentions}


def _annotation(row: dict[str, Any]) -> Annotation:
    lists = {name: row[name] for name in _WORDS}
    words: dict[str, Any] = {
        n: None if values is None else tuple(values) for n, values in lists.items()
    }
    return Annotation(**words, mentions=tuple(Mention(**mention) for mention in row["mentions"]))


def _picture_row(picture: Picture | None) -> dict[str, Any] | None:
    if picture is None:
        return None
    files = {"file": _file_row(picture.file), "mask": picture.mask and _file_row(picture.mask)}
    return _fields(picture, _PICTURE) | files


def _file_row(file: ImageFile) -> dict[str, Any]:
    source = file.source
    place = {"content": source} if isinstance(source, bytes) else {"path": str(source)}
    return {"name": file.name, "sha256": file.sha256, **place}


def _picture(row: dict[str, Any]) -> Picture:
    files: dict[str, Any] = {name: row[name] and _file(row[name]) for name in ("file", "mask")}
    return Picture(**row | files)


def _file(row: dict[str, Any]) -> ImageFile:
    source = row["content"] if row["path"] is None else Path(row["path"])
    return ImageFile(row["name"], source, row["sha256"])


def _fields(of: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(of, name) for name in names}
