"""Input and type of parsers that score candidates for governors."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor

Parameters = dict[str, Tensor]
"""Learned parameters of several parsers of one kind, by name; the last axis is the parser."""


@dataclass(frozen=True)
class ParserSentence:
    """One sentence, with the tree to learn for each of several parsers trained together.

    The candidates of a word are the words and, after them, the root: its number is the number of
    words. `vectors` are static vectors of words; their last value is 1, as a bias. A governor that
    is the word itself is no training target. Only scored words are trained on and counted.
    """

    attention: Float[Tensor, "word candidate head"]
    cls: Float[Tensor, "word head"]
    sep: Float[Tensor, "word head"]
    vectors: Float[Tensor, "word value"]
    governors: Int[Tensor, "word fit"]
    is_scored: Bool[Tensor, " word"]


CandidateScorer = Callable[[Parameters, ParserSentence], Tensor]
"""Function from parameters and a sentence to logits, word × candidate × fit; the root is last."""
