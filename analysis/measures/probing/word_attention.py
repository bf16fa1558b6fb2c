"""Attention between words, and the words that heads pick by it."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.measures.probing.antecedents import NONE


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


def predicted_governors(
    attention: Float[Tensor, "head word candidate"],
    sentences: Int[Tensor, " word"],
    *,
    is_causal: bool,
) -> tuple[Int[Tensor, "head word"], Int[Tensor, "head word"]]:
    """Governors predicted by every head, from dependents' attention and from governors' attention.

    Args:
        attention: between the words of one text, without weights of special tokens.
        is_causal: True if no word sees a later word; such pairs are no candidates.

    Returns:
        Places of other words of the same sentence, by dependents' attention and by governors'; of
        equal weights the first word wins. `NONE` where a word has no candidate: the root is never
        predicted.

    Source:
        clark-2019, section 4.2.
    """
    same = sentences[:, None] == sentences
    may_govern = same & ~torch.eye(len(sentences), dtype=torch.bool, device=same.device)
    seen = may_govern.tril() if is_causal else may_govern
    seen_by = may_govern.triu() if is_causal else may_govern
    return _largest(attention, seen), _largest(attention.mT, seen_by)


def _largest(
    weight: Float[Tensor, "head word candidate"], allowed: Bool[Tensor, "word candidate"]
) -> Int[Tensor, "head word"]:
    largest = weight.masked_fill(~allowed, -torch.inf).argmax(dim=-1)
    return largest.masked_fill(~allowed.any(dim=-1), NONE)


def attended_antecedents(
    attention: Float[Tensor, "head word candidate"], heads: Int[Tensor, " mention"]
) -> Int[Tensor, "head mention"]:
    """The head word of an earlier mention that each mention's head word attends to most.

    A mention is earlier if its head word precedes: so no mention picks itself, and none picks a
    word that a causal model hides. Of words with equal weights the first is picked.

    Args:
        attention: between the words of one text.
        heads: the head word of every mention.

    Returns:
        Places of words; `NONE` for mentions that no other precedes.

    Source:
        clark-2019, section 4.3.

    Differs:
        The paper does not state the candidates. Here they are the head words of all earlier
        mentions, as for the rules.
    """
    candidates = torch.unique(heads)
    given = attention[:, heads][:, :, candidates]
    is_earlier = candidates < heads[:, None]
    best = given.masked_fill(~is_earlier, -torch.inf).argmax(dim=-1)
    return torch.where(is_earlier.any(dim=1), candidates[best], NONE)
