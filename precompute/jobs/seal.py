"""A checksum inside every shard, of all its bytes and of its path.

Readers of Parquet find the footer from the end of the file and everything else by its offset from
the start, so 32 bytes between data and footer disturb none of them. There the checksum appears
together with the shard's name, unlike a file beside it; and it covers the footer, unlike an entry
in the footer. It also covers the shard's path (table, fingerprint, job), so that a whole shard of
something else counts as damaged.
"""

import hashlib
import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO

SEALED = "sha256 before the footer"
"""Form of the seal; part of every fingerprint, so that unsealed shards are never read."""
_DIGEST = hashlib.sha256
_SIZE = _DIGEST().digest_size
_END = 8  # the footer's length in four bytes, and PAR1
_CHUNK = 2**20


def seal(file: IO[bytes], shard: Path) -> None:
    """Write the checksum into a Parquet file that is open for reading and writing.

    Args:
        shard: the final path of the file.
    """
    place = _footer_place(file)
    digest = _digest(file, shard, place, place)
    file.seek(place)
    footer = file.read()
    file.seek(place)
    file.write(digest + footer)


def is_intact(shard: Path) -> bool:
    """Return True if the shard is byte for byte as written for its path."""
    try:
        with shard.open("rb") as file:
            footer = _footer_place(file)
            file.seek(footer - _SIZE)
            return file.read(_SIZE) == _digest(file, shard, footer - _SIZE, footer)
    except (OSError, ValueError):  # unreadable, or shorter than its footer's offset
        return False


def set_aside(shard: Path) -> Path:
    """Rename a damaged shard, so that nothing reads it, and return the new path."""
    names = (shard.with_name(f".{shard.name}.{n}.damaged") for n in count(1))
    aside = next(name for name in names if not os.path.lexists(name))
    with suppress(FileNotFoundError):  # another run has set it aside already
        shard.rename(aside)
    return aside


def _footer_place(file: IO[bytes]) -> int:
    """Return the offset of the footer."""
    end = file.seek(-_END, os.SEEK_END)
    return end - int.from_bytes(file.read(4), "little")


def _digest(file: IO[bytes], shard: Path, data_end: int, footer: int) -> bytes:
    """Return the checksum of the data, the footer and the path."""
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
