"""Training and scoring of parsers on dependency trees."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.measures.probing.parsers import (
    CandidateScorer,
    Parameters,
    ParserSentence,
    attention_scores,
    attention_words_scores,
    distances_words_scores,
    fresh_attention,
    fresh_attention_words,
    fresh_distances_words,
)

RATE = 0.02
BATCH = 4
EPOCHS = 5
STEPS = 150
"""Fewest training steps, for small treebanks."""


def sentence_of(**arrays: np.ndarray) -> ParserSentence:
    """Return a sentence from arrays of its parts.

    Source:
        clark-2019, section 5, whose parsers read it.
    """
    return ParserSentence(**{name: torch.from_numpy(array) for name, array in arrays.items()})


def possible(scores: Float[Tensor, "word candidate fit"]) -> Float[Tensor, "word candidate fit"]:
    """Scores with each word excluded as its own governor.

    Source:
        clark-2019, section 5.
    """
    itself = torch.eye(*scores.shape[:2], dtype=torch.bool)
    return scores.masked_fill(itself[:, :, None], -torch.inf)


def parser_loss(
    scores: Float[Tensor, "word candidate fit"],
    sentence: ParserSentence,
    learns: Bool[Tensor, " fit"],
) -> Float[Tensor, ""]:
    """−ln p(governor) per scored word, summed over the parsers that learn from the sentence.

    Source:
        clark-2019, section 5.
    """
    itself = torch.arange(len(scores))[:, None]
    teaches = sentence.is_scored[:, None] & (sentence.governors != itself) & learns
    log_share = torch.log_softmax(possible(scores), dim=1)
    of_governor = log_share.gather(1, sentence.governors[:, None])[:, 0]
    surprise = -of_governor.masked_fill(~teaches, 0.0).sum()
    return surprise / sentence.is_scored.sum().clamp(min=1)


def train(
    scores: CandidateScorer,
    start: Parameters,
    sentences: Sequence[ParserSentence],
    *,
    learns: Bool[np.ndarray, "row fit"],
    seed: int,
) -> Parameters:
    """Train parsers for some epochs of Adam over shuffled sentences and return their parameters.

    Args:
        learns: True where a parser may see the tree of a sentence.

    Source:
        clark-2019, section 5.

    Differs:
        The paper takes one epoch over forty times as many sentences, one at a time, at a rate of
        0.002.
    """
    learnt = {name: value.clone().requires_grad_() for name, value in start.items()}
    optimizer = torch.optim.Adam(learnt.values(), lr=RATE)
    draw = np.random.default_rng(seed)
    used = np.flatnonzero(learns.any(axis=1))
    steps = math.ceil(len(used) / BATCH)
    for _ in range(max(EPOCHS, math.ceil(STEPS / max(steps, 1)))):
        for batch in np.array_split(draw.permutation(used), steps) if steps else ():
            for place in batch.tolist():
                sees = torch.from_numpy(learns[place])
                loss = parser_loss(scores(learnt, sentences[place]), sentences[place], sees)
                (loss / len(batch)).backward()
            optimizer.step()
            optimizer.zero_grad()
    return {name: value.detach() for name, value in learnt.items()}


@torch.no_grad()
def right_words(
    scores: CandidateScorer, learnt: Parameters, sentence: ParserSentence
) -> Int[Tensor, " fit"]:
    """Number of scored words that get their governor, the root included.

    Source:
        clark-2019, section 5: unlabeled attachment without punctuation.
    """
    governors = possible(scores(learnt, sentence)).argmax(dim=1)
    return (governors == sentence.governors)[sentence.is_scored].sum(dim=0)


def right_by_parser(
    sentences: Sequence[ParserSentence],
    controls: Sequence[ParserSentence],
    *,
    learns: Bool[np.ndarray, "row fit"],
    seeds: list[int],
) -> dict[str, Int[np.ndarray, "row fit"]]:
    """Train every kind of parser and count the correct words of each sentence.

    Args:
        controls: the same sentences with shuffled governors.
        learns: True where the parser of a seed may see the tree of a sentence.

    Source:
        clark-2019, section 5.
    """
    like, fits = sentences[0], len(seeds)

    def right(
        scores: CandidateScorer, start: Parameters, of: Sequence[ParserSentence] = sentences
    ) -> Int[np.ndarray, "row fit"]:
        learnt = train(scores, start, of, learns=learns, seed=seeds[0])
        return np.stack([right_words(scores, learnt, sentence).numpy() for sentence in of])

    start, with_words = fresh_attention(like, fits), fresh_attention_words(like, fits)
    with _one_thread():
        return {
            "attention": right(attention_scores, start),
            "attention_shuffled": right(attention_scores, start, controls),
            "attention_words": right(attention_words_scores, with_words),
            "attention_words_shuffled": right(attention_words_scores, with_words, controls),
            "distances_words": right(distances_words_scores, fresh_distances_words(like, seeds)),
        }


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run with one thread: sentences are short, and sums of floats depend on the number of
    threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def shuffled(
    governors: Int[np.ndarray, " word"], *, seed: int, sentence: int
) -> Int[np.ndarray, " word"]:
    """The governors of a sentence, dealt to its words at random, as a control.

    A parser that is trained on such trees must be scored on such trees. Scored on true trees it may
    look good: attention that encodes the tree shows which words govern, and the largest score shows
    which word. No word is dealt itself.

    Source:
        clark-2019, section 5: a control of ours, to show what parsers gain from the trees.
    """
    draw = np.random.default_rng((seed, sentence))
    dealt = draw.permutation(governors)
    while (dealt == np.arange(len(dealt))).any():  # ends: the true governors are one of the deals
        dealt = draw.permutation(governors)
    return dealt
