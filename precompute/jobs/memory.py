"""Memory per step of a computation; freed tensors go back to the machine, not to the process."""

import ctypes
import sys
from collections.abc import Callable

import pyarrow as pa
import torch

from precompute.jobs.plan import BATCH_PAIRS
from precompute.models.loaded_model import LoadedModel

_SHARE_OF_A_GPU = 8
"""A batch's attention maps take at most this fraction of a GPU's memory: measures make copies of
them, and other workers may use the same GPU."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
_TRIM_BYTES, _MMAP_BYTES = 128 * 2**20, 32 * 2**20


def return_freed_memory() -> None:
    """Fix the thresholds that glibc would raise by itself as large blocks come and go.

    Otherwise every batch leaves a hole that the next does not quite fit. Blocks of up to 32 MiB are
    used again without asking the machine for new pages, which for a text of 2,048 tokens halves the
    time of statistics; larger ones go back at once. Other systems' allocators are left alone.
    """
    mallopt = _of_allocator("mallopt")
    if mallopt:
        mallopt(_TRIM_THRESHOLD, _TRIM_BYTES)
        mallopt(_MMAP_THRESHOLD, _MMAP_BYTES)


def return_unused_pages() -> None:
    """Return pages that hold nothing to the machine; the next use of them asks for new ones."""
    trim = _of_allocator("malloc_trim")
    if trim:
        trim(0)


def _of_allocator(name: str) -> Callable[..., int] | None:
    """Return a function of glibc's allocator; None on systems with another."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None


def set_threads(n: int) -> None:
    """Compute with so many threads, in torch, in Arrow and in the databases of tables."""
    torch.set_num_threads(n)
    pa.set_cpu_count(n)


def most_pairs(model: LoadedModel) -> int:
    """Return the largest number of token pairs in the attention maps of a batch.

    On a CPU it follows from the caches; on a GPU, which needs larger batches to be busy, from the
    size of its memory. It does not depend on free memory, so that a resumed run cuts its jobs as
    before.
    """
    if model.device != "cuda":
        return BATCH_PAIRS
    memory = torch.cuda.get_device_properties(model.model.device).total_memory
    of_pair = sum(len(layer.query_weight) for layer in model.layers) * torch.float32.itemsize
    return max(BATCH_PAIRS, memory // _SHARE_OF_A_GPU // of_pair)
