"""The file of an image or a mask: read whole, of bounded size, and the same every time."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import BadCorpus
from precompute.corpora.images.image_formats import FOREIGN, REMEDY

MAX_BYTES = 256 * 2**20
Source = Path | bytes
"""A file, or its content where there is none."""


@dataclass(frozen=True)
class ImageFile:
    """A file as it was when it was first read; a run that comes back to it finds the same or stops.

    `name` is fit to be shown.
    """

    name: str
    source: Source
    sha256: str

    @property
    def content(self) -> bytes:
        """Return the content of the file.

        Raises:
            BadCorpus: the file is gone, or no longer what it was.
        """
        content = read_source(self.source, name=self.name)
        if sha256_of(content) != self.sha256:
            raise BadCorpus(
                self.name,
                "has changed since the run read it first; leave the folder alone and run the same "
                "command again",
            )
        return content


def image_file(source: Source, *, name: str) -> ImageFile:
    """Return a file with the hash of its present content.

    Raises:
        BadCorpus: see `read_source`.
    """
    return ImageFile(name, source, sha256_of(read_source(source, name=name)))


def read_source(source: Source, *, name: str, limit: int = MAX_BYTES) -> bytes:
    """The content of a file.

    Raises:
        BadCorpus: it cannot be read, or is called as a format is that is not read; it is empty, or
            holds more than `limit` bytes.
    """
    foreign = isinstance(source, Path) and FOREIGN.get(source.suffix.lower())
    if foreign:
        raise BadCorpus(name, f"is {foreign}, which is not read; {REMEDY}")
    try:
        n_bytes = len(source) if isinstance(source, bytes) else _size_of(source, name)
        if n_bytes > limit:
            raise BadCorpus(
                name,
                f"has {n_bytes / 2**20:,.1f} MiB, more than the {limit / 2**20:,.0f} MiB that are "
                "read; make it smaller",
            )
        if not n_bytes:
            raise BadCorpus(name, "is empty; copy it again")
        return source if isinstance(source, bytes) else source.read_bytes()
    except OSError as error:
        raise BadCorpus(
            name, f"cannot be read ({error.strerror}); check that it is there and its permissions"
        ) from error


def _size_of(path: Path, name: str) -> int:
    if path.is_dir():
        raise BadCorpus(name, "is a folder and no image; give it another name")
    size = path.stat().st_size
    if not path.is_file():
        raise BadCorpus(name, "is not a regular file; write the image to a file first")
    return size


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
