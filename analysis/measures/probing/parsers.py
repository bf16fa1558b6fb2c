"""Parsers that read attention of all heads, or distances and words; their training and scoring."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

OF_PAIRS = ("dependent", "governor")
OF_ROOT = ("cls", "sep")
HIDDEN = 64
NEAR = (1, -1, 2, -2)
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


def fresh_attention(like: ParserSentence, fits: int) -> Parameters:
    """Weights of 0 for `attention_scores`: every candidate is equally likely.

    Source:
        clark-2019, section 5.
    """
    heads = like.attention.shape[2]
    weights = {name: torch.zeros(heads, fits) for name in (*OF_PAIRS, *OF_ROOT)}
    return weights | {"root": torch.zeros(fits)}


def attention_scores(
    parameters: Parameters, sentence: ParserSentence
) -> Float[Tensor, "word candidate fit"]:
    """Σ_k (w_k α^k_ij + u_k α^k_ji) of dependent i and governor j, over all heads k; the root last.

    The root's score is Σ_k (c_k α^k_i[CLS] + e_k α^k_i[SEP]) + r.

    Source:
        clark-2019, section 5.1.

    Differs:
        The released code gives [CLS] and [SEP] one weight each for all heads and has no r, without
        which a model that has neither token could not choose the root.
    """
    attention = sentence.attention
    words = attention @ parameters["dependent"]
    words = words + (attention @ parameters["governor"]).transpose(0, 1)
    root = sentence.cls @ parameters["cls"] + sentence.sep @ parameters["sep"]
    return torch.cat([words, (root + parameters["root"])[:, None]], dim=1)


def fresh_attention_words(like: ParserSentence, fits: int) -> Parameters:
    """Weights of 0 for `attention_words_scores`: every candidate is equally likely.

    Source:
        clark-2019, section 5.2.
    """
    values, heads = like.vectors.shape[1], like.attention.shape[2]
    pairs = [f"{name}_by_{whose}" for name in OF_PAIRS for whose in OF_PAIRS]
    weights = {name: torch.zeros(values, heads, fits) for name in (*pairs, *OF_ROOT)}
    return weights | {"root": torch.zeros(values, fits)}


def attention_words_scores(
    parameters: Parameters, sentence: ParserSentence
) -> Float[Tensor, "word candidate fit"]:
    """Scores by attention with w_k and u_k linear in the two words' vectors, W_k v_i + W'_k v_j.

    Attention to the root is weighed by the dependent's vector alone.

    Source:
        clark-2019, section 5.2.

    Differs:
        The released code gives the candidates each other's vectors by accident; here each has its
        own. Both weights have a bias, as there.
    """
    upwards, downwards = sentence.attention, sentence.attention.transpose(0, 1)

    def weights(name: str) -> Float[Tensor, "word head fit"]:
        matrix = parameters[name]
        return (sentence.vectors @ matrix.flatten(1)).unflatten(1, matrix.shape[1:])

    by_dependent = torch.bmm(upwards, weights("dependent_by_dependent"))
    by_dependent = by_dependent + torch.bmm(downwards, weights("governor_by_dependent"))
    by_governor = torch.bmm(downwards, weights("dependent_by_governor"))
    by_governor = by_governor + torch.bmm(upwards, weights("governor_by_governor"))
    root = sentence.vectors @ parameters["root"]
    for name, given in (("cls", sentence.cls), ("sep", sentence.sep)):
        root = root + torch.bmm(given[:, None], weights(name))[:, 0]
    return torch.cat([by_dependent + by_governor.transpose(0, 1), root[:, None]], dim=1)


def distance_features(n_words: int) -> Float[Tensor, "word candidate value"]:
    """Distances after and before the dependent, over n; flags for ±1, ±2 and the root.

    Source:
        clark-2019, section 5.2.
    """
    place = torch.arange(n_words)
    step = place[None, :] - place[:, None]
    near = [(step == offset).float() for offset in NEAR]
    far = [step.clamp(min=0) / n_words, step.clamp(max=0) / -n_words]
    of_words = torch.stack([*far, *near, torch.zeros(n_words, n_words)], dim=-1)
    root = torch.zeros(n_words, 1, of_words.shape[-1])
    root[..., -1] = 1
    return torch.cat([of_words, root], dim=1)


def fresh_distances_words(like: ParserSentence, seeds: list[int]) -> Parameters:
    """Small random weights for `distances_words_scores`, one parser per seed.

    Source:
        clark-2019, section 5.2.
    """
    values, features = like.vectors.shape[1], len(NEAR) + 3
    shapes = {
        "dependent": (values, HIDDEN),
        "governor": (values, HIDDEN),
        "distance": (features, HIDDEN),
        "output": (HIDDEN,),
    }
    parsers = []
    for seed in seeds:
        draw = torch.Generator().manual_seed(seed)
        parsers.append(
            {name: torch.randn(of, generator=draw) / of[0] ** 0.5 for name, of in shapes.items()}
        )
    return {name: torch.stack([parser[name] for parser in parsers], dim=-1) for name in shapes}


def distances_words_scores(
    parameters: Parameters, sentence: ParserSentence
) -> Float[Tensor, "word candidate fit"]:
    """o · tanh(A v_i + B v_j + C d_ij), d_ij being `distance_features`; the root's v is 0.

    Source:
        clark-2019, section 5.2.

    Differs:
        64 hidden units instead of 256, since treebanks here are small.
    """
    features = distance_features(len(sentence.vectors))

    def through(name: str, given: Tensor) -> Tensor:
        matrix = parameters[name]
        return (given @ matrix.flatten(1)).unflatten(-1, matrix.shape[1:])

    governor = through("governor", sentence.vectors)
    governor = torch.cat([governor, torch.zeros_like(governor[:1])])
    hidden = through("dependent", sentence.vectors)[:, None] + governor[None]
    hidden = torch.tanh(hidden + through("distance", features))
    return (hidden * parameters["output"]).sum(dim=2)


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
