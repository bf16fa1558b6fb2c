"""A baseline parser that reads the distances and vectors of words, and no attention."""

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.parser_sentence import Parameters, ParserSentence

HIDDEN = 64
NEAR = (1, -1, 2, -2)


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
