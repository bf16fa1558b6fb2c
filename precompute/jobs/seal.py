"""A checksum inside every shard, of all its bytes and of its place.

Readers of Parquet find the footer from the end of the file and everything else by its offset from
the start, so 32 bytes between data and footer disturb none of them. There the checksum comes into
being and takes its name together with the shard, which no file beside it could do; and it covers
the footer, which no entry in the footer could do. It also covers the shard's place (table,
fingerprint, job), so that a whole shard of something else is no better than a damaged one.
"""

import hashlib
import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO

SEALED = "sha256 before the footer"
"""How shards are sealed; part of every fingerprint, so that unsealed ones are never read."""
_DIGEST = hashlib.sha256
_SIZE = _DIGEST().digest_size
_END = 8  # the footer's length in four bytes, and PAR1
_CHUNK = 2**20


def seal(file: IO[bytes], shard: Path) -> None:
    """Put the checksum into a Parquet file that is open for reading and writing.

    Args:
        shard: the name that the file will have.
    """
    place = _footer_place(file)
    digest = _digest(file, shard, place, place)
    file.seek(place)
    footer = file.read()
    file.seek(place)
    file.write(digest + footer)


def is_intact(shard: Path) -> bool:
    """Whether a shard is, byte by byte, what was written for its place."""
    try:
        with shard.open("rb") as file:
            footer = _footer_place(file)
            file.seek(footer - _SIZE)
            return file.read(_SIZE) == _digest(file, shard, footer - _SIZE, footer)
    except (OSError, ValueError):  # it cannot be read, or is shorter than its footer says
        return False


def set_aside(shard: Path) -> Path:
    """The new name of a damaged shard, which nothing reads."""
    names = (shard.with_name(f".{shard.name}.{n}.damaged") for n in count(1))
    aside = next(name for name in names if not os.path.lexists(name))
    with suppress(FileNotFoundError):  # another run has set it aside already
        shard.rename(aside)
    return aside


def _footer_place(file: IO[bytes]) -> int:
    """Where the footer starts."""
    end = file.seek(-_END, os.SEEK_END)
    return end - int.from_bytes(file.read(4), "little")


def _digest(file: IO[bytes], shard: Path, data_end: int, footer: int) -> bytes:
    """The checksum of the data, the footer and the place."""
    digest = _DIGEST("/".join(shard.parts[-3:]).encode())
    file.seek(0)
    left = data_end
    while chunk := file.read(min(left, _CHUNK)):
        digest.update(chunk)
        left -= len(chunk)
    file.seek(footer)
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.digest()
