"""Corpora in memory, and sequences in parts on disk."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from precompute.corpora.index.corpus import Corpus, Reading, indexed
from precompute.corpora.sequence import Sequence


@dataclass(frozen=True)
class Whole:
    """All that a reading yields."""

    name: str
    sha256: str
    sequences: tuple[Sequence, ...]
    counts: Counter[str]
    is_images: bool

    @property
    def n_tokens(self) -> int:
        return sum(map(len, self.sequences))

    @property
    def documents(self) -> list[int]:
        """A number for the document of each, in the order of their first."""
        numbers: dict[tuple[str, int], int] = {}
        keys = (
            ("alone", sequence.index)
            if sequence.document is None
            else ("document", sequence.document)
            for sequence in self.sequences
        )
        return [numbers.setdefault(key, len(numbers)) for key in keys]


def whole(reading: Reading) -> Whole:
    """The corpus, read to its end."""
    sequences = tuple(reading.begin(0))
    return Whole(reading.name, reading.sha256(), sequences, reading.counts, reading.is_images)


def reading_of(sequences: Iterable[Sequence], *, name: str = "tiny") -> Reading:
    """A reading of sequences that are there already."""
    known = tuple(sequences)
    content = sha256(repr(known).encode()).hexdigest()
    is_images = any(sequence.image is not None for sequence in known)
    begin = lambda first: iter(known[first:])  # noqa: E731
    return Reading(name, {"sequences": content}, begin, lambda: "0" * 64, is_images=is_images)


def on_disk(sequences: Iterable[Sequence], folder: Path, *, name: str = "tiny") -> Corpus:
    """The sequences in parts below a folder."""
    return indexed(reading_of(sequences, name=name), folder)
