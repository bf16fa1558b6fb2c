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
    except _OF_DISK as error:
        raise _refused_by_disk(output.parent, _reason(error)) from error
    except (MemoryError, duckdb.OutOfMemoryException) as error:
        raise _refused_memory(_reason(error)) from error
    except RuntimeError as error:
        if not any(phrase in str(error) for phrase in _NO_MEMORY):
            raise
        raise _refused_memory(_reason(error)) from error


def _refused_by_disk(folder: Path, reason: str) -> UserError:
    return UserError(
        f"{folder} could not be read or written ({reason}). See to its space and permissions and "
        "rerun the command: finished shards are kept."
    )


def _refused_memory(reason: str) -> UserError:
    return UserError(
        f"There is too little memory ({reason}). End other programs, or take fewer --workers or a "
        "smaller --max-tokens, and rerun the command: finished shards are kept."
    )


def _reason(error: BaseException) -> str:
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (message.strip() or type(error).__name__).splitlines()[0]
