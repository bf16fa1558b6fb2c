"""Files about words: the frequencies of a vocabulary, and static vectors."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.errors import BadCorpus


@dataclass(frozen=True)
class Frequencies:
    """The frequency rank of every vocabulary entry, and the hash of the file that gave it."""

    ranks: np.ndarray
    sha256: str


def read_frequencies(path: Path, *, vocabulary: int) -> Frequencies:
    """Ranks by vocabulary entry; entries the file lacks come after its last."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadCorpus(
            str(path), f"cannot be read ({error.strerror}). Give a file of lines `rank count id`."
        ) from error
    ranks = np.zeros(vocabulary, dtype=np.int64)
    for number, line in enumerate(content.splitlines(), start=1):
        rank, entry = _parsed(line, f"{path} line {number}", vocabulary)
        ranks[entry] = rank
    if not ranks.any():
        raise BadCorpus(str(path), "holds no frequencies. Give a file of lines `rank count id`.")
    ranks[ranks == 0] = ranks.max() + 1
    return Frequencies(ranks, hashlib.sha256(content).hexdigest())


def _parsed(line: bytes, place: str, vocabulary: int) -> tuple[int, int]:
    try:
        rank, _, entry = map(int, line.split())
    except ValueError:
        raise BadCorpus(
            place, f"{line[:60]!r} is not of the form `rank count id` in whole numbers."
        ) from None
    if not 1 <= rank <= 10**12 or not 0 <= entry < vocabulary:
        raise BadCorpus(
            place,
            f"rank {rank} or id {entry} is out of range; the vocabulary has {vocabulary} entries. "
            "Give the frequencies of this model's own vocabulary.",
        )
    return rank, entry


_FORM = "Give a file of lines `word number number …`, as GloVe has them."


@dataclass(frozen=True)
class WordVectors:
    """Vectors of the words that a corpus has, the name of their file and its hash."""

    name: str
    sha256: str
    vectors: dict[str, np.ndarray]

    def of(self, form: str) -> np.ndarray | None:
        """The vector of a word as it is written, else of its small letters, if there is one."""
        exact = self.vectors.get(form)
        return self.vectors.get(form.lower()) if exact is None else exact


def read_word_vectors(path: Path, forms: Collection[str]) -> WordVectors:
    """The vectors of the given words and of their small letters; the first line of a word counts.

    A first line of two whole numbers, as word2vec writes it, is passed over.
    """
    wanted = {part for form in forms for part in (form, form.lower())}
    digest, vectors, width = hashlib.sha256(), {}, None
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                digest.update(line)
                fields = line.decode("utf-8", errors="replace").rstrip().split(" ")
                if number == 1 and len(fields) == 2 and all(map(str.isdecimal, fields)):
                    continue
                width = width or len(fields) - 1
                place = f"{path} line {number}"
                # a few words of larger files have spaces in them
                word = " ".join(fields[:-width]) if 0 < width < len(fields) else ""
                if not word:
                    raise BadCorpus(place, f"has no word with {max(width, 1)} numbers. {_FORM}")
                if word in wanted and word not in vectors:
                    vectors[word] = _numbers(fields[-width:], place)
    except OSError as error:
        raise BadCorpus(str(path), f"cannot be read ({error.strerror}). {_FORM}") from error
    if not vectors:
        raise BadCorpus(str(path), f"has no word of the corpus. {_FORM}")
    return WordVectors(path.name, digest.hexdigest(), vectors)


def _numbers(fields: list[str], place: str) -> np.ndarray:
    try:
        vector = np.array(fields, dtype=np.float32)
    except ValueError:
        raise BadCorpus(place, f"holds what is no number. {_FORM}") from None
    if not np.isfinite(vector).all():
        raise BadCorpus(place, f"holds a number that is not finite. {_FORM}")
    return vector
