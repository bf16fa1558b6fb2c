"""Attention of the words of an annotated sequence, from the attention of its tokens."""

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.probing.word_attention import WordAttention, word_attention
from analysis.token_types import CLS, SEP
from precompute.corpora.sequence import Sequence


def attention_of_words(
    attention: Float[Tensor, "head query key"], sequence: Sequence
) -> WordAttention:
    """The attention between the words of a sequence that is annotated, without padding."""
    types = torch.from_numpy(sequence.token_types).to(attention.device)
    spans = torch.from_numpy(sequence.word_spans).to(attention.device)
    return word_attention(attention, spans, types == CLS, types == SEP)
