"""A corpus as it is read, and in parts on disk: its size, the sequences of one job or of all.

Parts that exist are not read again.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from itertools import count
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from jaxtyping import Int32

from analysis.needs import Need
from precompute.corpora.images.pictures import DECODING, Source
from precompute.corpora.sequence import NO_WORD, Sequence
from precompute.jobs.shards import fingerprint, is_intact, set_aside, shard_path, write_sealed
from precompute.progress import Begun, Finished, OnEvent, ignore

_PLAIN = {int: pa.int32(), str: pa.string(), bool: pa.bool_()}
_hints = cache(get_type_hints)


def _known(hint: Any) -> Any:
    """Return a type without None."""
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


@dataclass(frozen=True)
class Reading:
    """Settings and start of reading a corpus for a model.

    `settings` holds everything that the sequences depend on. `begin` reads the sequences from an
    index on. `sha256` is that of the corpus, once all of it is read. `revisions` are the commits of
    files from the hub, `form` is the recognised form of a text corpus.

    `counts` holds the changes to the text: `truncated` (sequences that were cut to fit), `unpaired`
    (paragraphs without a partner), `too_short` (ends of documents that are too short to be packed),
    `blank_rows_left_out`, `malformed_rows_left_out` and `padding_tokens_left_out`; of annotated
    corpora `too_long` (sentences left out because they do not fit), `mentions_cut` (they cross the
    edge of a window), `mentions_without_words_left_out`, `coreference_left_out` (documents whose
    sentences alone are read), `heads_by_tree`, `heads_by_tag` and `heads_by_word` (mentions by the
    source of their heads), `sentences_by_rule` (their ends are not marked); of images
    `images_left_out` and `masks_left_out`.
    """

    name: str
    settings: Mapping[str, object]
    begin: Callable[[int], Iterator[Sequence]]
    sha256: Callable[[], str]
    counts: Counter[str] = field(default_factory=Counter)
    is_images: bool = False
    revisions: tuple[str, ...] = ()
    form: str = ""


@dataclass(frozen=True)
class Part:
    """Summary of a part: its number of sequences, their hash, and counts up to the end of the part.

    It holds its sequences by length, `job_sequences` to a job, to save padding. `longest` holds
    (index, length) of the longest sequences so far, the longest first; `segments` the segment ids
    of all texts so far; `bears` the annotations of words so far. `document` is the number of the
    last document by the reader's count, and `unit` by that of `Corpus.units`.
    """

    n_sequences: int
    job_sequences: int
    n_tokens: int
    sha256: str
    longest: tuple[tuple[int, int], ...]
    segments: tuple[int, ...]
    bears: tuple[Need, ...]
    truncated: int
    document: int | None
    unit: int


@dataclass(frozen=True)
class Corpus:
    """A corpus as one model reads it: `folder` holds its parts, each sequence in one of them.

    `sha256` is that of the file, `n_tokens` includes special tokens, and `counts`, `revisions`
    and `form` are those of `Reading`. The cut into parts and jobs follows from the corpus alone.
    """

    folder: Path
    name: str
    sha256: str
    n_tokens: int
    is_images: bool
    counts: dict[str, int]
    parts: tuple[Part, ...]
    revisions: tuple[str, ...] = ()
    form: str = ""

    def __len__(self) -> int:
        return sum(part.n_sequences for part in self.parts)

    def __iter__(self) -> Iterator[Sequence]:
        """Yield every sequence in the order of the corpus, with one part in memory at a time."""
        for part in range(len(self.parts)):
            yield from self.part(part)

    @property
    def files(self) -> list[Path]:
        return [shard_path(self.folder, part) for part in range(len(self.parts))]

    @property
    def content_sha256(self) -> str:
        """Return a hash of everything the model reads and of all annotations."""
        return sha256("".join(part.sha256 for part in self.parts).encode()).hexdigest()

    @cached_property
    def job_sizes(self) -> tuple[int, ...]:
        return tuple(
            min(part.job_sequences, part.n_sequences - start)
            for part in self.parts
            for start in range(0, part.n_sequences, part.job_sequences)
        )

    def job(self, index: int) -> tuple[Sequence, ...]:
        """Return the sequences of one job, the shortest first."""
        part, place = self._job_places[index]
        return sequences_of(self._file(part).read_row_group(place))

    def job_lengths(self, index: int) -> dict[int, int]:
        """Return the number of tokens of each sequence of one job, by index, read from the disk."""
        part, place = self._job_places[index]
        rows = self._file(part).read_row_group(place, ["index", "ids"])
        lengths = pc.call_function("list_value_length", [rows["ids"]])
        return dict(zip(rows["index"].to_pylist(), lengths.to_pylist(), strict=True))

    def part(self, index: int) -> tuple[Sequence, ...]:
        """Return the sequences of one part, in the order of the corpus."""
        return sequences_of(self._file(index).read().sort_by("index"))

    def some(self, indices: Set[int]) -> Iterator[Sequence]:
        """Yield some sequences in the order of the corpus, with one part in memory at a time."""
        first = 0
        for part, of_part in enumerate(self.parts):
            last = first + of_part.n_sequences
            if not indices.isdisjoint(range(first, last)):
                yield from (sequence for sequence in self.part(part) if sequence.index in indices)
            first = last

    def units(self) -> Int32[np.ndarray, " sequence"]:
        """Number each sequence's document in order; a sequence without one counts as its own."""
        columns = [self._file(part).read(["index", "unit"]) for part in range(len(self.parts))]
        return pa.concat_tables(columns).sort_by("index")["unit"].to_numpy()

    def count_token(self, token: int) -> tuple[int, int]:
        """Return the number of word pieces that are this token, and of all word pieces."""
        found = total = 0
        for part in range(len(self.parts)):
            rows = self._file(part).read(["ids", "words"])
            ids, words = (
                rows[name].combine_chunks().flatten().to_numpy() for name in rows.column_names
            )
            of_words = ids[words != NO_WORD]
            found, total = found + int((of_words == token).sum()), total + len(of_words)
        return found, total

    def forms(self) -> set[str]:
        words: set[str] = set()
        for part in range(len(self.parts)):
            (forms,) = self._file(part).read(["annotation.forms"]).flatten().columns
            words.update(forms.combine_chunks().flatten().unique().to_pylist())
        return words

    @cached_property
    def _job_places(self) -> tuple[tuple[int, int], ...]:
        """Return the part of each job, and its index there."""
        sizes = (-(-part.n_sequences // part.job_sequences) for part in self.parts)
        return tuple((part, place) for part, n in enumerate(sizes) for place in range(n))

    def _file(self, part: int) -> pq.ParquetFile:
        return pq.ParquetFile(self.files[part], page_checksum_verification=True)


VERSION = 8
"""Version of the readers' output; to be raised whenever that changes."""
JOBS, FEWEST_SEQUENCES, JOB_SEQUENCES = 8, 4, 64
"""Jobs of a part, as long as one has no fewer and no more sequences than these."""
PART_SEQUENCES, PART_TOKENS, PART_CHARACTERS = 64 * JOB_SEQUENCES, 2**20, 2**26
_LONGEST = 4
_NOTHING = Part(0, 0, 0, "", (), (), (), truncated=0, document=None, unit=-1)
_SUMMARY, _WHOLE = b"summary", "whole.parquet"
"""Key of the account of a part or of the corpus in its file; the file of the latter, of no rows."""


def indexed(reading: Reading, folder: Path, on_event: OnEvent = ignore) -> Corpus:
    """Read the missing parts of a corpus below `folder` and return it; parts stay at an error."""
    name = fingerprint(version=VERSION, job=JOB_SEQUENCES, part=PART_SEQUENCES, **reading.settings)
    home = folder / "corpus" / name
    named: Any = {"name": reading.name, "revisions": reading.revisions, "form": reading.form}
    parts = list(_parts_there(home))
    n_read = sum(part.n_sequences for part in parts)
    on_event(Begun("corpus", found=n_read))
    if is_intact(home / _WHOLE):
        corpus = made_of(_summary(home / _WHOLE) | {"folder": home}, Corpus)
        if list(corpus.parts) == parts:
            return replace(corpus, **named)
    before = parts[-1] if parts else _NOTHING
    reading.counts["truncated"] += before.truncated
    for sequences in _cut(reading.begin(n_read), on_event):
        units = list(_units(sequences, before))
        before = _summed(before, sequences, reading.counts["truncated"], units[-1])
        rows = _rows(sequences, units, before)
        write_sealed(shard_path(home, len(parts)), rows, row_group_size=before.job_sequences)
        parts.append(before)
    corpus = Corpus(
        folder=home,
        sha256=reading.sha256(),
        n_tokens=sum(part.n_tokens for part in parts),
        is_images=reading.is_images,
        counts=dict(reading.counts),
        parts=tuple(parts),
        **named,
    )
    account = {name: of for name, of in asdict(corpus).items() if name != "folder"}
    write_sealed(home / _WHOLE, _with_summary(SCHEMA.empty_table(), account))
    return corpus


def _summary(file: Path) -> dict[str, Any]:
    return json.loads(pq.read_schema(file).metadata[_SUMMARY])


def _with_summary(rows: pa.Table, summary: dict[str, Any]) -> pa.Table:
    return rows.replace_schema_metadata({_SUMMARY: json.dumps(summary)})


def _parts_there(home: Path) -> Iterator[Part]:
    """Yield the summaries of finished parts, up to the first missing or damaged one."""
    for index in count():
        path = shard_path(home, index)
        if not path.exists():
            return
        if not is_intact(path):
            for damaged in sorted(home.glob("[0-9]*.parquet"))[index:]:
                aside = set_aside(damaged)
                print(f"{damaged} is kept as {aside.name} and read again.", file=sys.stderr)
            return
        yield made_of(_summary(path), Part)


def _cut(sequences: Iterable[Sequence], on_event: OnEvent) -> Iterator[list[Sequence]]:
    """Cut sequences into parts, and report how many were read."""
    held, n_tokens, n_characters = [], 0, 0
    for n, sequence in enumerate(sequences, start=1):
        if n % JOB_SEQUENCES == 0:
            on_event(Finished(JOB_SEQUENCES))
        held.append(sequence)
        n_tokens += len(sequence)
        n_characters += len(sequence.text)
        is_long = n_tokens >= PART_TOKENS or n_characters >= PART_CHARACTERS
        if len(held) == PART_SEQUENCES or is_long:
            yield held
            held, n_tokens, n_characters = [], 0, 0
    if held:
        yield held


def _units(sequences: list[Sequence], before: Part) -> Iterator[int]:
    """Yield the document number of each sequence; readers never return to a document."""
    document, unit = before.document, before.unit
    for sequence in sequences:
        unit += sequence.document is None or sequence.document != document
        document = sequence.document
        yield unit


def _summed(before: Part, sequences: list[Sequence], truncated: int, unit: int) -> Part:
    """Summarise a part, counting on from the one before."""
    longest = [*before.longest, *((sequence.index, len(sequence)) for sequence in sequences)]
    segments = np.unique(np.concatenate([sequence.segments for sequence in sequences]))
    known = [sequence.annotation for sequence in sequences if sequence.annotation is not None]
    has = {
        Need.WORDS: bool(known),
        Need.TREES: any(annotation.governors is not None for annotation in known),
        Need.COREFERENCE: any(annotation.mentions for annotation in known),
    }
    return Part(
        n_sequences=len(sequences),
        job_sequences=min(JOB_SEQUENCES, max(FEWEST_SEQUENCES, -(-len(sequences) // JOBS))),
        n_tokens=sum(map(len, sequences)),
        sha256=_sha256(sequences),
        longest=tuple(sorted(longest, key=lambda pair: (-pair[1], pair[0]))[:_LONGEST]),
        segments=tuple(sorted({*before.segments, *segments.tolist()})),
        bears=tuple(sorted({*before.bears, *(need for need, is_there in has.items() if is_there)})),
        truncated=truncated,
        document=sequences[-1].document,
        unit=unit,
    )


def _sha256(sequences: list[Sequence]) -> str:
    """Hash all fields that numbers may depend on."""
    digest = sha256()
    for sequence in sequences:
        for array in (sequence.ids, sequence.segments, sequence.token_types, sequence.words):
            digest.update(len(array).to_bytes(8, "little"))
            digest.update(array.tobytes())
        digest.update(repr((sequence.annotation, sequence.document)).encode())
        if sequence.targets is not None:
            digest.update(sequence.targets.tobytes())
        if sequence.image is not None:
            digest.update(f"{DECODING} {sequence.image.sha256}".encode())
    return digest.hexdigest()


def _rows(sequences: list[Sequence], units: list[int], part: Part) -> pa.Table:
    """One row a sequence, by length, with the number of the document that it is redrawn with."""
    order = sorted(range(len(sequences)), key=lambda place: (len(sequences[place]), place))
    columns = [
        pa.array([_written(getattr(sequences[place], field.name)) for place in order], field.type)
        for field in list(SCHEMA)[:-1]
    ]
    of_units = pa.array([units[place] for place in order], pa.int32())
    return _with_summary(pa.table([*columns, of_units], schema=SCHEMA), asdict(part))
