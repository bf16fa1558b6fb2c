"""Attention between words, from attention between the tokens of a tokenizer."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class WordAttention:
    """Attention of the words of one text: to each other, to [CLS] and to [SEP].

    Received attention is the sum over a word's tokens. Given attention is the mean over its tokens
    in `mean`, that of its first token in `first`. `cls` and `sep` are means over tokens, and 0
    where the text has no such token. Rows of `mean` with `cls` and `sep` sum to 1 where every token
    is a piece of a word or one of the two.
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
        spans: first token of each word and the end of its tokens.

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
