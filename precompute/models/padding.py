"""Sequences of several lengths beside each other, their way to a device, and unknown tokens."""

from collections.abc import Sequence as SequenceOf

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from analysis.errors import UnfitModel
from precompute.corpora.sequence import Sequence


def padded(rows: SequenceOf[np.ndarray], padding: int) -> Int[Tensor, "batch token"]:
    """Rows of whole numbers as long as the longest, the others filled up at their end."""
    filled = torch.full((len(rows), max(map(len, rows))), padding)
    for place, row in enumerate(rows):
        filled[place, : len(row)] = torch.from_numpy(row)
    return filled


def sent_to(device: torch.device, tensor: Tensor) -> Tensor:
    """Move a tensor to a device; a GPU copies it asynchronously, from pinned memory."""
    if device.type == "cuda" and tensor.device.type == "cpu":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


def check_known(sequences: SequenceOf[Sequence], known: int, *, name: str) -> None:
    """Raise UnfitModel if a token is unknown to the model.

    Args:
        known: number of tokens of the model.
        name: the model's name.

    Raises:
        UnfitModel: the tokenizer belongs to another model.
    """
    most = max(int(sequence.ids.max()) for sequence in sequences)
    if most >= known:
        raise UnfitModel(
            f"The tokenizer gives token id {most}, but model {name!r} knows {known} tokens: load a "
            "tokenizer that belongs to the model."
        )
