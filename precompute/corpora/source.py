"""Files that `--corpus` names, of a folder, a saved data set or the hub, and their lines."""

import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import huggingface_hub
import pyarrow as pa
from huggingface_hub import errors
from huggingface_hub.errors import HfHubHTTPError, HfUriError, HFValidationError

from analysis.errors import BadCorpus
from precompute.corpora.images.pictures import holds_images
from precompute.corpora.wording import file_name, listed, path_as_given, shown

_NO_ANSWER: type[Exception] = vars(errors)["HTTPError"]
"""Error of the HTTP library below the hub's client, in any of its versions."""
_FORM = "is no data set of the hub; write hf://datasets/OWNER/NAME/PATH, or NAME@REVISION/PATH"


def hub_files(address: str) -> tuple[str, tuple[Path, ...]]:
    """Return the commit of an address, and its files, downloaded if they are not here yet.

    PATH is a file, a folder, or a pattern such as `data/train-*`; its files are read in
    alphabetical order.
    """
    try:
        uri = huggingface_hub.parse_hf_uri(address)
    except HfUriError as error:
        raise BadCorpus(address, _FORM) from error
    if uri.type != "dataset":
        raise BadCorpus(address, _FORM)
    try:
        known = huggingface_hub.HfApi().dataset_info(uri.id, revision=uri.revision)
        there = [file.rfilename for file in known.siblings or ()]
        chosen = _chosen(address, uri.path_in_repo.rstrip("/"), there)
        files = [
            huggingface_hub.hf_hub_download(uri.id, file, repo_type="dataset", revision=known.sha)
            for file in chosen
        ]
    except (HFValidationError, HfHubHTTPError) as error:
        raise BadCorpus(
            address,
            f"is not on the hub, or not for you ({_first_line(error)}); check owner, name and "
            "revision, and log in if it is private",
        ) from error
    except (OSError, _NO_ANSWER) as error:
        raise BadCorpus(
            address,
            f"needs the hub, which cannot be reached ({_first_line(error)}); go online, or fetch "
            "its Parquet files elsewhere and give their folder",
        ) from error
    return str(known.sha), tuple(map(Path, files))


def _chosen(address: str, path: str, there: list[str]) -> list[str]:
    """The Parquet files that are named by a path, lie below it, or fit it as a pattern."""
    parquet = sorted(file for file in there if file.endswith(".parquet"))
    if not parquet:
        raise BadCorpus(address, "holds no Parquet; fetch its files and give them as --corpus")
    chosen = [
        file
        for file in parquet
        if file == path or file.startswith(f"{path}/") or fnmatchcase(file, path)
    ]
    if not chosen:
        what = f"has no Parquet at {path}" if path else "names no file"
        raise BadCorpus(
            address,
            f"{what}; end it with a file, a folder or a pattern such as data/train-*, of these: "
            f"{listed(parquet)}",
        )
    return chosen


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


_STATE, _SPLITS = "state.json", "dataset_dict.json"
_FILES, _INDICES = "_data_files", "_indices_data_files"


def saved_files(folder: Path) -> tuple[Path, ...]:
    """The Arrow files of a saved data set in its order; none if the folder is no such."""
    place = path_as_given(folder)
    if (folder / _SPLITS).is_file():
        splits = _read(folder / _SPLITS).get("splits")
        named = listed(splits) if isinstance(splits, list) else "none named"
        raise BadCorpus(
            place, f"holds the splits of a data set ({named}); give the folder of one of them"
        )
    if not (folder / _STATE).is_file():
        return ()
    state = _read(folder / _STATE)
    if state.get(_INDICES):
        raise BadCorpus(
            place,
            f"is a data set whose rows are chosen by indices ({_INDICES} of {_STATE}); save it "
            "again with a `datasets` that writes the rows themselves",
        )
    files = state.get(_FILES)
    if not isinstance(files, list) or not files:
        raise BadCorpus(place, f"{_STATE} lists no files ({_FILES}); save the data set again")
    names = [entry.get("filename") if isinstance(entry, dict) else None for entry in files]
    for name in names:
        if not isinstance(name, str) or Path(name).name != name:
            raise BadCorpus(
                place,
                f"{_STATE} lists {shown(name)}; each of {_FILES} must be a file of this folder",
            )
    return tuple(folder / str(name) for name in names)


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise BadCorpus(
            path_as_given(path), f"is no JSON ({error}); save the data set again"
        ) from error
    if not isinstance(value, dict):
        raise BadCorpus(path_as_given(path), "is no JSON object; save the data set again")
    return value


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
        hashes = [file_sha256(file) for file in self.files]
        if len(hashes) == 1:
            return hashes[0]
        return hashlib.sha256("".join(f"{digest}\n" for digest in hashes).encode()).hexdigest()

    @cached_property
    def _states(self) -> list[tuple[int, ...]]:
        """Return the state of each file, as of the first call."""
        return [file_state(file) for file in self.files]

    def check_unchanged(self) -> None:
        """Raise BadCorpus if a file has changed since its hash was taken."""
        for file, before in zip(self.files, self._states, strict=True):
            if before != file_state(file):
                raise BadCorpus(
                    file_name(file),
                    "has changed while it was read; leave it alone and run the same command again",
                )


def source_of(given: str | Sequence[str]) -> Source:
    """Find the files of a corpus, given by names of files, of folders, or of a bundled corpus.

    A folder stands for all files below it but hidden ones, by their paths in alphabetical order; a
    folder saved by the `datasets` library for its Arrow files, in its own order.
    """
    names = (given,) if isinstance(given, str) else tuple(given)
    fetched = {name: hub_files(name) for name in names if name.startswith("hf://")}
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
    """Open a file, decompressing gzip or zstd while it is read."""
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
    """Stream of a compressed file's content, up to the size limit."""

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


def file_sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def file_state(path: Path) -> tuple[int, ...]:
    """Return inode, size and times of change of a file, to detect replacements.

    The last of these times is set by the system: nobody can put it back.
    """
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST_LINE = 16 * 2**20
"""Longest line in bytes, held in memory; a small compressed file may unfold into a large one."""


HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class Head:
    """The first 64 KiB of a file, decompressed, and their lines that are whole and not blank."""

    content: bytes
    lines: list[str]
    is_cut: bool


def head_of(path: Path) -> Head:
    with opened(path) as handle:
        content = handle.read(HEAD_BYTES)
    text = content.removeprefix(BYTE_ORDER_MARK).decode(errors="replace")
    lines = re.split(r"\r\n|\r|\n", text)
    is_cut = len(content) == HEAD_BYTES
    whole = lines[:-1] if is_cut and len(lines) > 1 else lines
    return Head(content, [line for line in whole if line.strip()], is_cut)


@dataclass(frozen=True)
class Line:
    """One line, usually without surrounding white space; numbers count from 1."""

    file: str
    number: int
    text: str

    @property
    def place(self) -> str:
        """Return the file and line number, for messages and sequences."""
        return f"{self.file} line {self.number}"

    def refused(self, reason: str) -> BadCorpus:
        return BadCorpus(self.place, reason)


def span(first: Line, last: Line) -> str:
    """Return the range of lines from `first` to `last` as one place."""
    if first.number == last.number:
        return first.place
    return f"{first.file} lines {first.number}-{last.number}"


def numbered_lines(path: Path, *, stripped: bool = True) -> Iterator[Line]:
    """Yield every line, blank ones too, without its end (LF, CR LF or CR) or a byte order mark; as
    it is, or `stripped` of the white space around it."""
    name, number = file_name(path), 0
    with opened(path) as handle:
        while chunk := handle.readline(LONGEST_LINE + 1):
            lines = chunk.splitlines()
            if len(chunk) > LONGEST_LINE:
                raise BadCorpus(
                    f"{name} line {number + len(lines)}",
                    f"goes on for more than {LONGEST_LINE // 2**20} MiB; write a text of a few "
                    "pages to a line",
                )
            for line in lines:
                number += 1
                line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
                text = _decoded(line, name, number)
                yield Line(name, number, text.strip() if stripped else text)


def _decoded(line: bytes, name: str, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise BadCorpus(
            f"{name} line {number}",
            f"byte {error.start + 1} (0x{line[error.start]:02x}) is not UTF-8; "
            "save the file as UTF-8",
        ) from error
