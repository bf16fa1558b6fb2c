"""Attention between words, from attention between the pieces that a tokenizer makes of them."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class WordAttention:
    """What the words of one text attend to: each other, [CLS] and [SEP].

    What a word receives is the sum over its pieces. What it gives is in `mean` the mean over its
    pieces, in `first` what its first piece gives. `cls` and `sep` are means over pieces, and 0
    where the text has no such token. Rows of `mean` with `cls` and `sep` sum to 1 where every
    token is a piece of a word or one of the two.
    """

    mean: Float[Tensor, "head word candidate"]
    first: Float[Tensor, "head word candidate"]
    cls: Float[Tensor, "head word"]
    sep: Float[Tensor, "head word"]


def word_attention(
    attention: Float[Tensor, "head query key"],
    spans: Int[Tensor, "word two"],
    is_cls: Bool[Tensor, " key"],
    is_sep: Bool[Tensor, " key"],
) -> WordAttention:
    """Attention between the words of one text without padding.

    Args:
        attention: α, of any number of heads.
        spans: where the pieces of each word begin and end.

    Returns:
        Shares of each word's attention, from 0 to 1.

    Source:
        clark-2019, section 4.1.

    Differs:
        The paper takes means and its released code first pieces: both are here.
    """
    start, end = spans[:, :1], spans[:, 1:]
    place = torch.arange(attention.shape[-1], device=attention.device)
    is_piece = ((place >= start) & (place < end)).to(attention.dtype)
    sends = is_piece / is_piece.sum(dim=1, keepdim=True)
    special = torch.stack([is_cls, is_sep]).to(attention.dtype)
    received = attention @ torch.cat([is_piece, special]).T
    n_words = len(spans)
    mean = sends @ received
    first = received[:, spans[:, 0]]
    return WordAttention(
        mean=mean[..., :n_words],
        first=first[..., :n_words],
        cls=mean[..., n_words],
        sep=mean[..., n_words + 1],
    )
