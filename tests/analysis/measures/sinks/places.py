"""The places of a batch, from the twin's lists of tokens."""

from collections.abc import Iterable

import torch
from torch import Tensor

from tests.reference.sinks.sequence_sink import place_tokens

NAMES = ("first", "first_content", "cls", "sep", "comma_period", "other", "register", "bos")


def seen_by(n: int, *, is_causal: bool, window: int | None = None) -> list[list[int]]:
    """Keys that each query of a text may attend to."""
    reach = n if window is None else window
    return [
        [j for j in range(n) if abs(i - j) <= reach and (j <= i or not is_causal)] for i in range(n)
    ]


def pairs_of(texts: list[list[list[int]]], n_tokens: int) -> Tensor:
    """Keys that each query may attend to, for several padded texts."""
    is_pair = torch.zeros(len(texts), n_tokens, n_tokens, dtype=torch.bool)
    for row, seen in enumerate(texts):
        for i, keys in enumerate(seen):
            is_pair[row, i, keys] = True
    return is_pair


def places_of(texts: Iterable[list[str]], n_tokens: int) -> Tensor:
    """Mask of the tokens of each of `NAMES`, from the types of every text."""
    texts = list(texts)
    is_place = torch.zeros(len(texts), len(NAMES), n_tokens, dtype=torch.bool)
    for row, types in enumerate(texts):
        for name, tokens in place_tokens(types).items():
            is_place[row, NAMES.index(name), tokens] = True
    return is_place
