"""One-line errors for full disks and too little memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from analysis.errors import UserError

_OF_DISK = (OSError, duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)
"""DuckDB's errors for a full disk; it has several."""
_NO_MEMORY = ("can't allocate memory", "out of memory")  # of torch, on a processor and on a GPU


@contextmanager
def reporting_shortage(output: Path) -> Iterator[None]:
    """Turn the machine's refusals of disk or memory into a UserError.

    Readers of corpora and models raise their own errors for unreadable input, so that all others
    concern the folder of the output.

    Raises:
        UserError: the folder cannot be read or written, or there is too little memory.
    """
    try:
        yield
    except ConnectionError:  # the reader of the output has gone
        raise
    except (*_OF_DISK, MemoryError, RuntimeError, duckdb.OutOfMemoryException) as error:
        is_of_memory = isinstance(error, MemoryError | duckdb.OutOfMemoryException)
        is_of_memory |= any(phrase in str(error) for phrase in _NO_MEMORY)
        if isinstance(error, RuntimeError) and not is_of_memory:
            raise
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        reason = (text.strip() or type(error).__name__).splitlines()[0]
        if isinstance(error, _OF_DISK):
            raise UserError(
                f"{output.parent} could not be read or written ({reason}). See to its space and "
                "permissions and rerun the command: finished shards are kept."
            ) from error
        raise UserError(
            f"There is too little memory ({reason}). End other programs, or take fewer --workers "
            "or a smaller --max-tokens, and rerun the command: finished shards are kept."
        ) from error
