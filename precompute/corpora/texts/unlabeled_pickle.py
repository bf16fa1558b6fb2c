"""`unlabeled_attn.pkl` of Clark et al. (2019): a pickled list of dicts with `tokens` and `attns`.

A pickle is a program. This reader allows lists, dicts, strings and numbers and nothing else: every
name that a NumPy array needs maps to a stub that drops its arguments. So no code but ours is
called, and the attention, gigabytes of it, is skipped while reading.
"""

import pickle
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from analysis.errors import BadCorpus
from precompute.corpora.source import opened
from precompute.corpora.texts.rows import Row
from precompute.corpora.wording import file_name, shown

_OF_ARRAYS = """
numpy ndarray, numpy dtype, _codecs encode, numpy.core.multiarray _reconstruct,
numpy._core.multiarray _reconstruct, numpy.core.multiarray scalar, numpy._core.multiarray scalar,
numpy.core.numeric _frombuffer, numpy._core.numeric _frombuffer, builtins bytes,
builtins bytearray, __builtin__ bytes, __builtin__ bytearray
"""
ARRAY_NAMES = frozenset(tuple(name.split()) for name in _OF_ARRAYS.split(","))
DAMAGE = (
    *(pickle.UnpicklingError, AttributeError, EOFError, LookupError, MemoryError),
    *(OverflowError, TypeError, ValueError),
)
REMEDY = "download it again, or give the corpus as JSON Lines"


def pickle_rows(path: Path, column: str) -> Iterator[Row]:
    """Yield the tokens of each sequence of the pickle; all else in it is dropped."""
    name = file_name(path)
    records = _unpickled(path, name)
    if not isinstance(records, list):
        raise BadCorpus(name, f"holds {shown(records)}; it must be a pickled list of dicts")
    for number, record in enumerate(records, start=1):
        place = f"{name} entry {number}"
        if isinstance(record, dict) and "tokens" in record:
            yield place, {"tokens": record["tokens"]}
        else:
            yield place, BadCorpus(place, f"is {shown(record)}; it must be a dict with `tokens`")


def _unpickled(path: Path, name: str) -> object:
    with opened(path) as handle:
        try:
            value = _TokensOnly(_WholeReads(handle), encoding="latin1").load()
        except _ForbiddenName as error:
            raise BadCorpus(
                name,
                f"asks for {error}, which no list of tokens needs and which could run code; "
                "nothing of it was run; do not trust this file",
            ) from error
        except DAMAGE as error:
            reason = shown(str(error) or type(error).__name__)
            raise BadCorpus(name, f"is a damaged pickle ({reason}); {REMEDY}") from error
        if handle.read(1):
            raise BadCorpus(name, f"goes on after the end of its pickle; {REMEDY}")
    return value


class _ForbiddenName(Exception):
    """A name in the pickle that is not allowed."""


class _Forgotten:
    """Placeholder of an array, or of a part of one."""

    def __init__(self, *_: object):
        pass

    def __setstate__(self, state: object) -> None:
        pass


class _WholeReads:
    """A file that returns all bytes asked for or raises; the unpickler does not check."""

    def __init__(self, handle: IO[bytes]):
        self._handle = handle

    def read(self, n_bytes: int, /) -> bytes:
        data = self._handle.read(n_bytes)
        if len(data) < n_bytes:
            raise EOFError("the file ends too early")
        return data

    def readline(self) -> bytes:
        line = self._handle.readline()
        if not line.endswith(b"\n"):
            raise EOFError("the file ends too early")
        return line


class _TokensOnly(pickle._Unpickler):
    """The standard library's unpickler in Python, restricted to this file's contents.

    The C version would allocate whatever memory a damaged file demands; this one keeps only what it
    reads.
    """

    read: Callable[[int], bytes]
    append: Callable[[object], None]
    pop_mark: Callable[[], list[object]]
    stack: list[object]

    def find_class(self, module: str, name: str) -> type[_Forgotten]:
        if (module, name) not in ARRAY_NAMES:
            raise _ForbiddenName(shown(f"{module}.{name}"))
        return _Forgotten

    def forget_bytes(self, n_bytes: int) -> None:
        """Skip bytes; only arrays hold any."""
        while n_bytes:
            n_bytes -= len(self.read(min(n_bytes, 1 << 16)))
        self.append(None)

    def forget_items(self, n_items: int) -> None:
        """Push an empty tuple in place of the items; only arrays are built from tuples."""
        del self.stack[len(self.stack) - n_items :]
        self.append(())


def _forget_tuple(unpickler: _TokensOnly) -> None:
    unpickler.pop_mark()
    unpickler.append(())


def _forget_sized(size: str) -> Callable[[_TokensOnly], None]:
    layout = struct.Struct(size)
    return lambda unpickler: unpickler.forget_bytes(*layout.unpack(unpickler.read(layout.size)))


_FORGETTING = {
    pickle.SHORT_BINBYTES: _forget_sized("<B"),
    pickle.BINBYTES: _forget_sized("<I"),
    pickle.BINBYTES8: _forget_sized("<Q"),
    pickle.BYTEARRAY8: _forget_sized("<Q"),
    pickle.TUPLE: _forget_tuple,
    pickle.TUPLE1: lambda unpickler: unpickler.forget_items(1),
    pickle.TUPLE2: lambda unpickler: unpickler.forget_items(2),
    pickle.TUPLE3: lambda unpickler: unpickler.forget_items(3),
}
_REFUSED = (pickle.EXT1, pickle.EXT2, pickle.EXT4)  # they name things without `find_class`
_TokensOnly.dispatch = {
    opcode: handler
    for opcode, handler in pickle._Unpickler.dispatch.items()
    if bytes([opcode]) not in _REFUSED
} | {opcode[0]: handler for opcode, handler in _FORGETTING.items()}
