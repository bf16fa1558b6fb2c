"""Places that attention may rest on, as masks of a batch's tokens by position and type."""

import torch
from jaxtyping import Bool
from torch import Tensor

from analysis.sinks import POSITIONAL
from analysis.token_types import TOKEN_TYPES
from precompute.passes.batch import Batch

_TYPES = tuple(name for name in TOKEN_TYPES if name not in POSITIONAL)
PLACES = (*POSITIONAL, *_TYPES)


def places_of(batch: Batch) -> Bool[Tensor, "batch place key"]:
    """Masks of the tokens of every place in `PLACES`, without padding."""
    is_token = batch.trace.is_token
    content = torch.zeros_like(is_token)
    for row, is_content in enumerate(batch.is_content):
        content[row, : len(is_content)] = torch.from_numpy(is_content)
    firsts = [_first(tokens) for tokens in (is_token, content)]
    types = [(batch.token_types == TOKEN_TYPES.index(name)) & is_token for name in _TYPES]
    return torch.stack([*firsts, *types], dim=1)


def _first(tokens: Bool[Tensor, "batch key"]) -> Bool[Tensor, "batch key"]:
    """Mask of the first of some tokens."""
    return tokens & (tokens.cumsum(dim=1) == 1)
