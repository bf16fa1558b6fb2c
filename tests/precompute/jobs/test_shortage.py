"""Resource errors of the machine become one line with a remedy; bugs are not hidden."""

import errno
from pathlib import Path

import duckdb
import pytest
import torch

from analysis.errors import UserError
from precompute.jobs.runner import reporting_shortage

OUTPUT = Path("statistics") / "bert.duckdb"
DISK = (
    "statistics could not be read or written ({}). See to its space and permissions and rerun the "
    "command: finished shards are kept."
)
MEMORY = (
    "There is too little memory ({}). End other programs, or take fewer --workers or a smaller "
    "--max-tokens, and rerun the command: finished shards are kept."
)
FULL, COMMIT = "No space left on device", "Failed to commit: Could not write file"
ALLOCATOR, CUDA = "DefaultCPUAllocator: can't allocate memory", "CUDA out of memory. Tried to"


@pytest.mark.parametrize(
    ("error", "sentence", "reason"),
    [
        (OSError(errno.ENOSPC, FULL), DISK, FULL),
        (duckdb.IOException(f"IO Error: {FULL}\n"), DISK, f"IO Error: {FULL}"),
        (duckdb.TransactionException(f"{COMMIT}\nmore"), DISK, COMMIT),
        (MemoryError(), MEMORY, "MemoryError"),
        (duckdb.OutOfMemoryException("Out of Memory Error"), MEMORY, "Out of Memory Error"),
        (RuntimeError(f"{ALLOCATOR}\nmore"), MEMORY, ALLOCATOR),
        (torch.OutOfMemoryError(f"{CUDA}\nmore"), MEMORY, CUDA),
    ],
)
def test_what_the_machine_refuses_is_said_with_what_to_do(error, sentence, reason):
    with pytest.raises(UserError) as caught, reporting_shortage(OUTPUT):
        raise error
    assert str(caught.value) == sentence.format(reason)


@pytest.mark.parametrize(
    "error", [KeyError("x"), RuntimeError("shapes"), BrokenPipeError(), duckdb.BinderException("x")]
)
def test_what_is_our_own_fault_is_not_hidden(error):
    with pytest.raises(type(error)), reporting_shortage(OUTPUT):
        raise error
