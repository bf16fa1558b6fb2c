"""A corpus that lies in parts on disk: how large it is, and the sequences of one job or of all."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import Int32

from analysis.needs import Need
from precompute.corpora.index.columns import sequences_of
from precompute.corpora.sequence import NO_WORD, Sequence


@dataclass(frozen=True)
class Part:
    """What is known of a part without reading it: how many sequences it holds, the hash of their
    content, and what was counted up to its end.

    `longest` holds (index, length) of the longest sequences so far, the longest first; `segments`
    the segment ids of all texts so far, `bears` what is known of their words. `document` is the
    number of the last document as the reader counts, and `unit` as `Corpus.units` does.
    """

    n_sequences: int
    n_tokens: int
    sha256: str
    longest: tuple[tuple[int, int], ...]
    segments: tuple[int, ...]
    bears: tuple[Need, ...]
    truncated: int
    document: int | None
    unit: int

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "Part":
        """The part that was written as JSON."""
        as_tuples = {
            "longest": tuple((index, length) for index, length in fields["longest"]),
            "segments": tuple(fields["segments"]),
            "bears": tuple(map(Need, fields["bears"])),
        }
        return cls(**fields | as_tuples)


@dataclass(frozen=True)
class Corpus:
    """A corpus as one model reads it: `folder` holds its parts, each sequence in one of them.

    `sha256` is that of the file, `n_tokens` counts the special ones too, and `counts` and
    `revisions` are those of `Reading`. A part holds its sequences by length, `job_sequences` to a
    job, so that little is padded; where one part ends and the next begins follows from the corpus
    alone.
    """

    folder: Path
    name: str
    sha256: str
    n_tokens: int
    is_images: bool
    job_sequences: int
    counts: dict[str, int]
    parts: tuple[Part, ...]
    revisions: tuple[str, ...] = ()

    @classmethod
    def read(cls, folder: Path, text: str) -> "Corpus":
        """The corpus that was written as JSON."""
        fields = json.loads(text)
        as_tuples = {"parts": tuple(map(Part.of, fields["parts"]))}
        as_tuples |= {"revisions": tuple(fields["revisions"])}
        return cls(**fields | {"folder": folder} | as_tuples)

    def written(self) -> str:
        """All but the folder, as JSON."""
        fields = asdict(self)
        del fields["folder"]
        return json.dumps(fields)

    def __len__(self) -> int:
        return sum(part.n_sequences for part in self.parts)

    def __iter__(self) -> Iterator[Sequence]:
        """Every sequence in the order of the corpus, of which one part is in memory at a time."""
        for part in range(len(self.parts)):
            yield from self.part(part)

    @property
    def content_sha256(self) -> str:
        """A hash of everything that the model reads and that is known of it."""
        return sha256("".join(part.sha256 for part in self.parts).encode()).hexdigest()

    @property
    def longest(self) -> tuple[tuple[int, int], ...]:
        """Index and length of the longest sequences, the first ones of them if there are many."""
        return self.parts[-1].longest

    @property
    def bears(self) -> tuple[Need, ...]:
        """What is known of the words of some sequence."""
        return self.parts[-1].bears

    @property
    def segments(self) -> tuple[int, ...]:
        """The segment ids that the texts have."""
        return self.parts[-1].segments

    @cached_property
    def job_sizes(self) -> tuple[int, ...]:
        """How many sequences each job has."""
        return tuple(
            min(self.job_sequences, part.n_sequences - start)
            for part in self.parts
            for start in range(0, part.n_sequences, self.job_sequences)
        )

    def job(self, index: int) -> tuple[Sequence, ...]:
        """The sequences of one job, the shortest first."""
        part, place = self._job_places[index]
        return sequences_of(self._file(part).read_row_group(place))

    def part(self, index: int) -> tuple[Sequence, ...]:
        """The sequences of one part, in the order of the corpus."""
        return sequences_of(self._file(index).read().sort_by("index"))

    def units(self) -> Int32[np.ndarray, " sequence"]:
        """A number for the document of each sequence, in the order of their first; one of its own
        for a sequence that has none."""
        columns = [self._file(part).read(["index", "unit"]) for part in range(len(self.parts))]
        return pa.concat_tables(columns).sort_by("index")["unit"].to_numpy()

    def count_token(self, token: int) -> tuple[int, int]:
        """Count the pieces of words that are a token, and all pieces of words."""
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
        """All annotated words."""
        words: set[str] = set()
        for part in range(len(self.parts)):
            forms = self._file(part).read(["forms"])["forms"].combine_chunks()
            words.update(forms.flatten().unique().to_pylist())
        return words

    @cached_property
    def _job_places(self) -> tuple[tuple[int, int], ...]:
        """The part of each job, and its place there."""
        sizes = (-(-part.n_sequences // self.job_sequences) for part in self.parts)
        return tuple((part, place) for part, n in enumerate(sizes) for place in range(n))

    def _file(self, part: int) -> pq.ParquetFile:
        return pq.ParquetFile(part_path(self.folder, part), page_checksum_verification=True)


def part_path(folder: Path, index: int) -> Path:
    """Where a part lies, whether or not it has been read."""
    return folder / f"{index:05d}.parquet"
