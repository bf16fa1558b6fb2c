"""Resource errors of the machine become one line with a remedy; bugs are not hidden."""

import errno
from pathlib import Path

import duckdb
import pytest
import torch

from analysis.errors import UserError
from precompute.jobs.runner import reporting_shortage

OUTPUT = Path("statistics") / "bert.duckdb"
DISK = {
    "No space left on device": OSError(errno.ENOSPC, "No space left on device"),
    "IO Error: No space left on device": duckdb.IOException("IO Error: No space left on device\n"),
    "Failed to commit: Could not write file": duckdb.TransactionException(
        "Failed to commit: Could not write file\nmore"
    ),
}
MEMORY = {
    "MemoryError": MemoryError(),
    "Out of Memory Error: lost": duckdb.OutOfMemoryException("Out of Memory Error: lost"),
    "DefaultCPUAllocator: can't allocate memory": RuntimeError(
        "DefaultCPUAllocator: can't allocate memory\nmore"
    ),
    "CUDA out of memory. Tried to allocate 2.00 GiB.": torch.OutOfMemoryError(
        "CUDA out of memory. Tried to allocate 2.00 GiB.\nmore"
    ),
}


def _message(error: Exception) -> str:
    with pytest.raises(UserError) as caught, reporting_shortage(OUTPUT):
        raise error
    return str(caught.value)


@pytest.mark.parametrize("reason", DISK | MEMORY)
def test_what_the_machine_refuses_is_said_with_what_to_do(reason):
    assert _message((DISK | MEMORY)[reason]) == (
        f"statistics could not be read or written ({reason}). See to its space and permissions and "
        "rerun the command: finished shards are kept."
        if reason in DISK
        else f"There is too little memory ({reason}). End other programs, or take fewer --workers "
        "or a smaller --max-tokens, and rerun the command: finished shards are kept."
    )


@pytest.mark.parametrize(
    "error", [KeyError("x"), RuntimeError("shapes"), BrokenPipeError(), duckdb.BinderException("x")]
)
def test_what_is_our_own_fault_is_not_hidden(error):
    with pytest.raises(type(error)), reporting_shortage(OUTPUT):
        raise error
