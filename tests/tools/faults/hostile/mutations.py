"""Mutations of bytes, like those by a broken disk, a wrong program or an attacker."""

import re
from collections.abc import Callable
from random import Random

_PIECES = (
    *(b"\0", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b", b"\xe2\x80\xa8", b"\xed\xa0\x80"),
    *(
        b"\n",
        b"\r\n",
        b"\n\n",
        b"\t",
        b"\t_",
        b" ",
        b",",
        b'"',
        b"'",
        b"\\",
        b"\\u0000",
        b"\\ud800",
    ),
    *(b"{}", b"[]", b"null", b"true", b"-1", b"NaN", b"Infinity", b"1e999", b"0.5", b"1-2", b"1.1"),
    *(b"[" * 2000, b"(" * 2000, b'{"a":' * 500, b"#begin document (x)\n", b"# newdoc\n"),
    *(b"<script>alert(1)</script>", b"__import__('os').system('true')", b"../../etc/passwd"),
    *("語".encode(), "e\u0301\u202e".encode(), "😀".encode()),
)
_NUMBERS = (
    b"0",
    b"-1",
    b"1.5",
    b"255",
    b"65536",
    b"2147483648",
    b"1e308",
    b"9" * 40,
    b'"7"',
    b"null",
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null')
_LONGEST = 64


def mutated(content: bytes, chance: Random) -> bytes:
    """The bytes after one to four changes, of any kind and at any place."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        content = chance.choice(_WAYS)(content, chance)
    return content


def _slice(content: bytes, chance: Random) -> tuple[int, int]:
    start = chance.randrange(len(content) + 1)
    return start, min(len(content), start + chance.randrange(1, _LONGEST))


def _flip(content: bytes, chance: Random) -> bytes:
    if not content:
        return content
    place = chance.randrange(len(content))
    other = content[place] ^ (1 << chance.randrange(8))
    return content[:place] + bytes([other]) + content[place + 1 :]


def _cut(content: bytes, chance: Random) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def _remove(content: bytes, chance: Random) -> bytes:
    start, end = _slice(content, chance)
    return content[:start] + content[end:]


def _double(content: bytes, chance: Random) -> bytes:
    start, end = _slice(content, chance)
    return content[:end] + content[start:end] * chance.choice((1, 1, 2, 100)) + content[end:]


def _noise(content: bytes, chance: Random) -> bytes:
    start, end = _slice(content, chance)
    return content[:start] + chance.randbytes(end - start) + content[end:]


def _insert(content: bytes, chance: Random) -> bytes:
    place = chance.randrange(len(content) + 1)
    return content[:place] + chance.choice(_PIECES) + content[place:]


def _number(content: bytes, chance: Random) -> bytes:
    return _put(content, _NUMBER, chance.choice(_NUMBERS), chance)


def _value(content: bytes, chance: Random) -> bytes:
    """Replace one JSON value by another, or by bytes that look like one."""
    values = _VALUE.findall(content)
    return _put(content, _VALUE, chance.choice(values), chance) if values else content


def _put(content: bytes, form: re.Pattern[bytes], other: bytes, chance: Random) -> bytes:
    matches = list(form.finditer(content))
    if not matches:
        return content
    start, end = chance.choice(matches).span()
    return content[:start] + other + content[end:]


def _lines(content: bytes, chance: Random) -> bytes:
    """Move, repeat or drop a line."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    line = lines[chance.randrange(len(lines))]
    if chance.random() < 0.5:
        lines.remove(line)
    if chance.random() < 0.7:
        lines.insert(chance.randrange(len(lines) + 1), line)
    return b"".join(lines)


_Way = Callable[[bytes, Random], bytes]
_WAYS: tuple[_Way, ...] = (
    *(_flip, _cut, _remove, _double, _noise, _insert, _number, _value, _lines),
)
