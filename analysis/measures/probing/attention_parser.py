"""Parsers that read the attention of all heads: alone, and weighed by the vectors of words."""

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.parser_sentence import Parameters, ParserSentence

OF_PAIRS = ("dependent", "governor")
OF_ROOT = ("cls", "sep")


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
