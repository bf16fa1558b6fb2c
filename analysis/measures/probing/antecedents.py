"""Antecedents of mentions: which are correct, and those that rules pick as a baseline for heads."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int

NONE = -1
"""Value of a pick where there is no candidate."""
Places = Int[np.ndarray, " mention"]
Pairs = Bool[np.ndarray, "mention mention"]
_ATTRIBUTES = ("Number", "Gender", "Person")
_UNKNOWN: frozenset[str] = frozenset()


def has_antecedent(heads: Places, clusters: Places) -> Bool[np.ndarray, " mention"]:
    """True for mentions with an antecedent: an earlier mention of the same cluster.

    Args:
        heads: the head word of every mention; a mention is earlier if its head word precedes.
        clusters: the cluster of every mention.

    Source:
        clark-2019, section 4.3.
    """
    return np.asarray(_antecedents(heads, clusters).any(axis=1))


def is_right(
    picked: Int[np.ndarray, "head mention"], heads: Places, clusters: Places
) -> Bool[np.ndarray, "head mention"]:
    """True where the picked word is the head word of an earlier mention of the same cluster.

    Args:
        picked: places of words, -1 for none, which is wrong.

    Source:
        clark-2019, section 4.3.
    """
    is_head = picked[:, :, None] == heads[None, None, :]
    return (is_head & _antecedents(heads, clusters)).any(axis=-1)


def _antecedents(heads: Places, clusters: Places) -> Bool[np.ndarray, "mention mention"]:
    is_earlier = heads[None, :] < heads[:, None]
    return is_earlier & (clusters[None, :] == clusters[:, None])


def nearest(heads: Places) -> Places:
    """The head word of the nearest earlier mention: the one whose head word is last.

    Returns:
        Places of words; `NONE` for mentions that no other precedes.

    Source:
        clark-2019, section 4.3, table 2.
    """
    return _nearest(heads, np.ones((len(heads), len(heads)), dtype=bool))


def head_match(heads: Places, head_texts: Sequence[str]) -> Places:
    """The head word of the nearest earlier mention with the same head word.

    Args:
        head_texts: the head words in the form compared, for example in lower case.

    Returns:
        Places of words; `NONE` where no earlier mention has the same head word.

    Source:
        clark-2019, section 4.3, table 2.
    """
    return _nearest(heads, _same(head_texts))


def sieve(heads: Places, texts: Sequence[str], head_texts: Sequence[str], agree: Pairs) -> Places:
    """The nearest earlier mention under the strictest rule that any earlier mention meets.

    The rules, from strict to lax: the same words throughout, the same head word, agreement, none.

    Args:
        texts: all words of each mention in the form compared, for example in lower case.
        agree: True where two mentions agree in number, gender and person.

    Returns:
        Places of head words; `NONE` for mentions that no other precedes.

    Source:
        clark-2019, section 4.3, table 2; lee-2011, section 2.3, whose sieves are the model.
    """
    picked = nearest(heads)
    for rule in (agree, _same(head_texts), _same(texts)):
        candidates = _nearest(heads, rule)
        picked = np.where(candidates == NONE, picked, candidates)
    return picked


def agreement(features: Sequence[str]) -> Pairs:
    """True where two mentions are compatible in number, gender and person.

    They are unless an attribute of both is known and they have no value in common.

    Args:
        features: of every mention's head word, in the form of UD: `Key=Value|…`, empty if unknown.

    Source:
        lee-2011, section 2.3 (the sieve for pronouns).

    Differs:
        No lists of names and no recogniser of animate things: an attribute is known where the
        treebank gives it. A possessive has the number, gender and person of the possessor. All
        words but pronouns and verbs are of the third person.
    """
    known = [attributes(mention) for mention in features]
    agree = np.ones((len(known), len(known)), dtype=bool)
    for row, one in enumerate(known):
        for column, other in enumerate(known):
            agree[row, column] = all(
                not a or not b or a & b for a, b in zip(one, other, strict=True)
            )
    return agree


def attributes(features: str) -> tuple[frozenset[str], ...]:
    """Values of number, gender and person that a word's features allow.

    Source:
        lee-2011, section 2.3 (the sieve for pronouns).
    """
    values_by_name = dict(pair.split("=", 1) for pair in features.split("|") if "=" in pair)
    if (
        not values_by_name or "VerbForm" in values_by_name
    ):  # a verb agrees with its subject, not with a mention
        return (_UNKNOWN,) * len(_ATTRIBUTES)
    if "PronType" not in values_by_name:
        values_by_name.setdefault("Person", "3")
    values = (
        values_by_name.get(f"{name}[psor]", values_by_name.get(name, "")) for name in _ATTRIBUTES
    )
    return tuple(frozenset(value.split(",")) if value else _UNKNOWN for value in values)


def _same(texts: Sequence[str]) -> Pairs:
    _, kind = np.unique(np.array(texts, dtype=object), return_inverse=True)
    return kind[:, None] == kind[None, :]


def _nearest(heads: Places, allowed: Pairs) -> Places:
    """The last allowed head word before each mention's own."""
    is_earlier = heads[None, :] < heads[:, None]
    return np.where(allowed & is_earlier, heads[None, :], NONE).max(axis=1, initial=NONE)
