"""Random sentences, and sentences whose trees stand in one of the heads."""

import numpy as np
import torch

from analysis.measures.probing.parsers import Parameters, ParserSentence


def random_sentence(n_words: int, *, heads: int = 3, values: int = 4, fits: int = 2, seed: int = 0):
    draw = torch.Generator().manual_seed(seed)
    shares = torch.softmax(
        torch.randn(n_words, n_words + 2, heads, generator=draw, dtype=torch.float64), dim=1
    )
    vectors = torch.randn(n_words, values - 1, generator=draw, dtype=torch.float64)
    governors = torch.randint(0, n_words + 1, (n_words, fits), generator=draw)
    return ParserSentence(
        attention=shares[:, :n_words],
        cls=shares[:, n_words],
        sep=shares[:, n_words + 1],
        vectors=torch.cat([vectors, torch.ones(n_words, 1, dtype=torch.float64)], dim=1),
        governors=governors,
        is_scored=torch.rand(n_words, generator=draw) < 0.8,
    )


def drawn(start: Parameters, *, seed: int = 0) -> Parameters:
    """Random values in place of those that a parser starts with."""
    draw = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(value.shape, generator=draw, dtype=torch.float64)
        for name, value in start.items()
    }


def planted_sentence(draw: np.random.Generator, *, fits: int = 1) -> ParserSentence:
    """A random tree: head 0 looks up, head 1 down, and the root looks at [CLS] in head 2."""
    n_words = int(draw.integers(4, 10))
    order = draw.permutation(n_words)
    governors = np.full(n_words, n_words)
    for place in range(1, n_words):
        governors[order[place]] = order[draw.integers(0, place)]
    attention = torch.from_numpy(draw.dirichlet(np.ones(n_words), (n_words, 4)))
    attention = 0.3 * attention.movedim(2, 1).float()
    cls = torch.from_numpy(draw.uniform(0, 0.1, (n_words, 4))).float()
    for word, governor in enumerate(governors):
        if governor == n_words:
            cls[word, 2] += 0.6
        else:
            attention[word, governor, 0] += 0.6
            attention[governor, word, 1] += 0.6
    return ParserSentence(
        attention=attention.contiguous(),
        cls=cls,
        sep=torch.zeros(n_words, 4),
        vectors=torch.ones(n_words, 1),
        governors=torch.from_numpy(np.stack([governors] * fits, axis=1)),
        is_scored=torch.ones(n_words, dtype=torch.bool),
    )
