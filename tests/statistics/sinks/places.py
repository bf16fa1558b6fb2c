"""Places that attention may rest on, token by token."""

from collections.abc import Iterable

import torch
from torch import Tensor

from analysis.statistics.sinks import PLACES


def place_tokens(types: list[str]) -> dict[str, list[int]]:
    """Tokens of every place in a text."""
    special = ("cls", "sep", "bos", "register")
    content = [j for j, kind in enumerate(types) if kind not in special]
    places = {"first": [0], "first_content": content[:1]}
    for j, kind in enumerate(types):
        if kind != "first":  # which is a place already
            places.setdefault(kind, []).append(j)
    return {name: tokens for name, tokens in places.items() if tokens}


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


def masks_of(texts: Iterable[list[str]], n_tokens: int) -> Tensor:
    """Mask of the tokens of each of `PLACES`, from the types of every text."""
    texts = list(texts)
    is_place = torch.zeros(len(texts), len(PLACES), n_tokens, dtype=torch.bool)
    for row, types in enumerate(texts):
        for name, tokens in place_tokens(types).items():
            is_place[row, PLACES.index(name), tokens] = True
    return is_place
