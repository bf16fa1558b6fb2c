"""Files that `--corpus` names, and opening them, compressed or not."""

import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from analysis.errors import BadCorpus
from precompute.corpora.images.image_folder import holds_images
from precompute.corpora.texts.hub import HUB, hub_files
from precompute.corpora.texts.saved_dataset import saved_files
from precompute.corpora.wording import file_name, path_as_given

DEMO, DEMO_TREEBANK, DEMO_DIGITS = "demo", "demo-treebank", "demo-digits"
DEMO_JAPANESE, DEMO_COPY = "demo-ja", "demo-copy"
NO_TEXT = "which only a model that reads images takes; give such a model, or a text corpus"
BUNDLED_TEXTS = {
    DEMO: "demo.jsonl",
    DEMO_TREEBANK: "demo.conllu",
    DEMO_JAPANESE: "demo-ja.jsonl",
    DEMO_COPY: "demo-copy.jsonl",
}
LEAST_UNPACKED, MOST_UNPACKED = 64 * 2**20, 200
"""Largest unpacked size of a compressed file: in bytes for any file, and as a multiple of its size.
English text unpacks to three to five times its size."""
UNFOLDS = (
    f"unfolds into more than {MOST_UNPACKED} times its size, as no text does; unpack it first if "
    "you trust it"
)
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"  # a file's first bytes
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
"""First bytes of a skippable zstd frame, without content; pzstd writes one before each part."""


@dataclass(frozen=True)
class Source:
    """The files of a corpus in reading order, and the corpus's name.

    `revisions` are the commits of files from the hub.
    """

    name: str
    files: tuple[Path, ...]
    revisions: tuple[str, ...] = ()

    @cached_property
    def sha256(self) -> str:
        """Return the hash of the file; for several files that of their hashes, one per line."""
        self._states  # noqa: B018 - taken before the files are read
        hashes = [_sha256(file) for file in self.files]
        if len(hashes) == 1:
            return hashes[0]
        return hashlib.sha256("".join(f"{digest}\n" for digest in hashes).encode()).hexdigest()

    @cached_property
    def _states(self) -> list[tuple[int, ...]]:
        """Return inode, size and times of change of each file, as of the first call.

        The last of these times is set by the system: nobody can put it back.
        """
        return self._states_now()

    def _states_now(self) -> list[tuple[int, ...]]:
        states = [file.stat() for file in self.files]
        return [
            (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns) for state in states
        ]

    def check_unchanged(self) -> None:
        """Raise BadCorpus if a file has changed since its hash was taken."""
        for file, before, now in zip(self.files, self._states, self._states_now(), strict=True):
            if before != now:
                raise BadCorpus(
                    file_name(file),
                    "has changed while it was read; leave it alone and run the same command again",
                )


def source_of(given: str | Sequence[str]) -> Source:
    """Find the files of a corpus, given by names of files, of folders, or of a bundled corpus.

    A folder stands for all files below it but hidden ones, by their paths in alphabetical order; a
    folder saved by the `datasets` library for its Arrow files, in its own order.

    Raises:
        BadCorpus: it holds images, a folder holds no file or several splits, or a file of the hub
            is missing.
    """
    names = (given,) if isinstance(given, str) else tuple(given)
    fetched = {name: hub_files(name) for name in names if name.startswith(HUB)}
    files = tuple(
        file for name in names for file in (fetched[name][1] if name in fetched else _files(name))
    )
    revisions = tuple(commit for commit, _ in fetched.values())
    if len(names) == 1:
        is_name = names[0] in BUNDLED_TEXTS or names[0] in fetched
        name = names[0] if is_name else file_name(Path(names[0]).absolute())
        return Source(name, files, revisions)
    more = "1 more file" if len(files) == 2 else f"{len(files) - 1} more files"
    return Source(f"{file_name(files[0])} and {more}", files, revisions)


def _files(name: str) -> tuple[Path, ...]:
    if name == DEMO_DIGITS:
        raise BadCorpus(name, f"holds images, {NO_TEXT}")
    if name in BUNDLED_TEXTS:
        return (Path(__file__).with_name(BUNDLED_TEXTS[name]),)
    path = Path(name)
    if not path.is_dir():
        return (path,)
    if holds_images(path):
        raise BadCorpus(path_as_given(path), f"is a folder of images, {NO_TEXT}")
    if saved := saved_files(path):
        return saved
    below = (file.relative_to(path) for file in path.rglob("*") if file.is_file())
    shown = sorted(
        file.parts for file in below if not any(part.startswith(".") for part in file.parts)
    )
    if not shown:
        raise BadCorpus(path_as_given(path), "is a folder without files; give one that holds text")
    return tuple(path.joinpath(*parts) for parts in shown)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, decompressing gzip or zstd while it is read.

    Raises:
        BadCorpus: the file cannot be read to its end.
    """
    try:
        with _handle(path) as handle:
            yield handle
    except (OSError, EOFError, zlib.error) as error:
        raise BadCorpus(
            file_name(path),
            f"cannot be read to its end ({getattr(error, 'strerror', None) or error}); "
            "check the disk, or make the file again",
        ) from error


def _handle(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        if file.read(len(_GZIP)) == _GZIP:
            return io.BufferedReader(_Unpacked(path, gzip.open(path)))
        if _is_zstd(file):
            stream = pa.input_stream(str(path), compression="zstd")
            return io.BufferedReader(_Unpacked(path, stream))
    return path.open("rb")


def _is_zstd(file: IO[bytes]) -> bool:
    """Return True if the first frame that is not skippable is one of zstd."""
    file.seek(0)
    while _SKIPPABLE.match(mark := file.read(len(_ZSTD))):
        file.seek(int.from_bytes(file.read(4), "little"), io.SEEK_CUR)
    return mark == _ZSTD


class _Unpacked(io.RawIOBase):
    """Stream of a compressed file's content, up to the size limit.

    Raises:
        BadCorpus: it unfolds into more than texts do, as files do that are made to fill memory.
    """

    def __init__(self, path: Path, stream: pa.NativeFile | gzip.GzipFile) -> None:
        self._stream = stream
        self._path, self._packed, self._read = path, path.stat().st_size, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._read += len(data)
        if self._read > max(LEAST_UNPACKED, MOST_UNPACKED * self._packed):
            raise BadCorpus(file_name(self._path), UNFOLDS)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
