"""Mentions of one text as input of heads and rules."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from analysis.measures.probing.coreference_accuracy import has_antecedent
from analysis.measures.probing.dependency_accuracy import base_of
from precompute.corpora.annotated.annotation import Annotation, Mention

_PLURAL = "Number=Plur"


@dataclass(frozen=True)
class Mentions:
    """The unmasked mentions of a text, in its order.

    `scored` holds the indices of those with an antecedent; `places` the indices of all of them
    among the mentions of the text. `texts` and `head_texts` are in lower case. `features` are UD
    features of the head words; coordinated mentions are plural, whatever their first word is.
    """

    places: np.ndarray
    heads: np.ndarray
    clusters: np.ndarray
    scored: np.ndarray
    texts: tuple[str, ...]
    head_texts: tuple[str, ...]
    features: tuple[str, ...]


def mentions_of(known: Annotation, is_masked: Bool[np.ndarray, " word"]) -> Mentions:
    """Return the mentions of a text, possibly none.

    Those with a masked word are left out for heads and rules alike: a rule would know the word.
    """
    places = [
        place
        for place, mention in enumerate(known.mentions)
        if not is_masked[mention.first : mention.last + 1].any()
    ]
    read = [known.mentions[place] for place in places]
    heads = np.array([mention.head for mention in read], dtype=np.int64)
    clusters = np.array([mention.cluster for mention in read], dtype=np.int64)
    forms = [form.casefold() for form in known.forms]
    return Mentions(
        places=np.array(places, dtype=np.int64),
        heads=heads,
        clusters=clusters,
        scored=np.flatnonzero(has_antecedent(heads, clusters)),
        texts=tuple(" ".join(forms[mention.first : mention.last + 1]) for mention in read),
        head_texts=tuple(forms[mention.head] for mention in read),
        features=tuple(_features(known, mention) for mention in read),
    )


def _features(known: Annotation, mention: Mention) -> str:
    features = known.features[mention.head]
    if not _is_joined(known, mention):
        return features
    others = [
        feature for feature in features.split("|") if feature and not feature.startswith("Number=")
    ]
    return "|".join([*others, _PLURAL])


def _is_joined(known: Annotation, mention: Mention) -> bool:
    """Return True if the tree coordinates another word of the mention with its head word."""
    if known.governors is None or known.relations is None:
        return False
    words = range(mention.first, mention.last + 1)
    return any(
        known.governors[word] == mention.head and base_of(known.relations[word]) == "conj"
        for word in words
    )
