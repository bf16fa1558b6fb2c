"""Word frequencies of a vocabulary, from a file of the form `rank count id`."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.errors import BadCorpus

_LARGEST_RANK = 10**12


@dataclass(frozen=True)
class Frequencies:
    """The frequency rank of every vocabulary entry, and the hash of the file that gave it."""

    ranks: np.ndarray
    sha256: str


def read_frequencies(path: Path, *, vocabulary: int) -> Frequencies:
    """Ranks by vocabulary entry; entries the file lacks come after its last.

    Raises:
        BadCorpus: naming the line that is not three whole numbers, or whose id is no entry.
    """
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
    if not 1 <= rank <= _LARGEST_RANK or not 0 <= entry < vocabulary:
        raise BadCorpus(
            place,
            f"rank {rank} or id {entry} is out of range; the vocabulary has {vocabulary} entries. "
            "Give the frequencies of this model's own vocabulary.",
        )
    return rank, entry
