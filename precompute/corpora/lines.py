"""Lines of a text file, numbered and strictly decoded."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import BadCorpus
from precompute.corpora.source import opened
from precompute.corpora.wording import file_name

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST_LINE = 16 * 2**20
"""Longest line in bytes; a line is held in memory, and a small compressed file may unfold into a
large one."""


HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class Head:
    """The lines within the first 64 KiB of a file that are whole and not blank."""

    lines: list[str]
    is_cut: bool


def head_of(path: Path) -> Head:
    """Return the first lines of a file, decompressed if it is compressed."""
    with opened(path) as handle:
        content = handle.read(HEAD_BYTES)
    text = content.removeprefix(BYTE_ORDER_MARK).decode(errors="replace")
    lines = re.split(r"\r\n|\r|\n", text)
    is_cut = len(content) == HEAD_BYTES
    whole = lines[:-1] if is_cut and len(lines) > 1 else lines
    return Head([line for line in whole if line.strip()], is_cut)


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
        """Return the error for this line."""
        return BadCorpus(self.place, reason)


def span(first: Line, last: Line) -> str:
    """Return the range of lines from `first` to `last` as one place."""
    if first.number == last.number:
        return first.place
    return f"{first.file} lines {first.number}-{last.number}"


def numbered_lines(path: Path, *, stripped: bool = True) -> Iterator[Line]:
    """Yield every line, blank ones too, without its end and without a byte order mark.

    Lines end in LF, CR LF or CR.

    Args:
        stripped: True to strip the white space around a line, as for columns.

    Raises:
        BadCorpus: a line is not UTF-8, or the file cannot be read to its end.
    """
    name = file_name(path)
    for number, line in enumerate(_raw_lines(path), start=1):
        line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        text = _decoded(line, name, number)
        yield Line(name, number, text.strip() if stripped else text)


def _raw_lines(path: Path) -> Iterator[bytes]:
    with opened(path) as handle:
        number = 0
        while chunk := handle.readline(LONGEST_LINE + 1):
            lines = chunk.splitlines()
            number += len(lines)
            if len(chunk) > LONGEST_LINE:
                raise BadCorpus(
                    f"{file_name(path)} line {number}",
                    f"goes on for more than {LONGEST_LINE // 2**20} MiB; write a text of a few "
                    "pages to a line",
                )
            yield from lines


def _decoded(line: bytes, name: str, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise BadCorpus(
            f"{name} line {number}",
            f"byte {error.start + 1} (0x{line[error.start]:02x}) is not UTF-8; "
            "save the file as UTF-8",
        ) from error
