"""A corpus in parts on disk: its size, and the sequences of one job or of all."""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from jaxtyping import Int32

from analysis.needs import Need
from precompute.corpora.index.columns import sequences_of
from precompute.corpora.sequence import NO_WORD, Sequence
from precompute.jobs.shards import shard_path


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
        """Return the paths of all parts."""
        return [shard_path(self.folder, part) for part in range(len(self.parts))]

    @property
    def content_sha256(self) -> str:
        """Return a hash of everything the model reads and of all annotations."""
        return sha256("".join(part.sha256 for part in self.parts).encode()).hexdigest()

    @property
    def longest(self) -> tuple[tuple[int, int], ...]:
        """Return index and length of the longest sequences, or of the first of many."""
        return self.parts[-1].longest

    @property
    def bears(self) -> tuple[Need, ...]:
        """Return the kinds of annotation that some sequence has."""
        return self.parts[-1].bears

    @property
    def segments(self) -> tuple[int, ...]:
        """Return the segment ids of the texts."""
        return self.parts[-1].segments

    @cached_property
    def job_sizes(self) -> tuple[int, ...]:
        """Return the number of sequences of each job."""
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
        """Return all annotated words."""
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
