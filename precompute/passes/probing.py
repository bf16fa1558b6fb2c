"""Words and mentions of annotated texts, and those that heads attend to: rows from layers."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Bool

from analysis.measures.probing import antecedents
from analysis.measures.probing.governors import base_of
from analysis.measures.probing.word_attention import attended_antecedents, predicted_governors
from analysis.statistics.base.columns import HEAD
from analysis.statistics.corpus import MERGINGS
from analysis.statistics.probing import accuracy as tables
from analysis.statistics.probing.parsers import KEPT, WORD_ATTENTION, WORD_VECTOR
from precompute.corpora.sequence import Annotation, Mention
from precompute.passes.filling import FromBatch, fills, rows
from precompute.passes.layers import Batch, Layer


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


@fills(WORD_ATTENTION)
def attention_of_sentences(layer: Layer) -> Iterator[pa.Table]:
    """Return the attention between the words of each sentence of the first annotated sequences."""
    for index, known, attention in layer.annotated:
        for number in sorted(set(known.sentences)) if index < KEPT else ():
            words = np.flatnonzero(np.array(known.sentences) == number)
            span = slice(words[0], words[0] + len(words))
            yield rows(
                WORD_ATTENTION,
                (HEAD,),
                seq=index,
                sentence=number,
                layer=layer.weights.number,
                first_word=words[0],
                n_words=len(words),
                attention=attention.mean[:, span, span].flatten(1),
                cls=attention.cls[:, span],
                sep=attention.sep[:, span],
            )


@fills(tables.DEPENDENCY_PREDICTION)
def governors_of_words(layer: Layer) -> Iterator[pa.Table]:
    """Return the governors that every head predicts for each word with a tree."""
    for by_weight, by_norm in zip(layer.annotated, layer.annotated_by_norm, strict=True):
        index, known, _ = by_weight
        if known.governors is not None:
            predicted = [
                [_predicted(layer, attention, known) for attention in (words.mean, words.first)]
                for _, _, words in (by_weight, by_norm)
            ]
            yield rows(
                tables.DEPENDENCY_PREDICTION,
                (tables.WEIGHING, tables.MERGING, tables.DIRECTION, HEAD),
                seq=index,
                layer=layer.weights.number,
                predicted=np.array(predicted),
            )


def _predicted(layer: Layer, attention: torch.Tensor, known: Annotation) -> np.ndarray:
    """Predicted governors: direction × head × word."""
    sentences = torch.tensor(known.sentences, device=attention.device)
    both = predicted_governors(attention, sentences, is_causal=layer.weights.is_causal)
    return torch.stack(both).cpu().numpy()


@fills(tables.COREFERENCE_PREDICTION)
class AntecedentsOfMentions:
    """Antecedents that rules and the heads of each layer pick, text by text.

    It keeps the mentions of the batch's texts beside the rows.
    """

    def __init__(self, batch: Batch):
        known = (
            (text.index, mentions_of(text.annotation, text.masked_words))
            for text in batch.sequences
            if text.annotation is not None
        )
        self._mentions = {seq: mentions for seq, mentions in known if len(mentions.scored)}
        self._parts = [tables.COREFERENCE_PREDICTION.schema.empty_table()]
        nobody = dict.fromkeys(("weighing", "merging", "layer", "head"), np.nan)
        for seq, mentions in self._mentions.items():
            heads, head_texts = mentions.heads, mentions.head_texts
            of_rules = {
                "nearest": antecedents.nearest(heads),
                "head_match": antecedents.head_match(heads, head_texts),
                "sieve": antecedents.sieve(
                    heads, mentions.texts, head_texts, antecedents.agreement(mentions.features)
                ),
            }
            for method, picked in of_rules.items():
                self._parts.append(_picks(seq, mentions, picked, method=method, **nobody))

    def add(self, layer: Layer) -> None:
        weighed = enumerate((layer.annotated, layer.annotated_by_norm))
        for (weighing, annotated), (at, merging) in product(weighed, enumerate(MERGINGS)):
            for seq, _, attention in annotated:
                if mentions := self._mentions.get(seq):
                    given = getattr(attention, merging)
                    heads = torch.from_numpy(mentions.heads).to(given.device)
                    picked = attended_antecedents(given, heads).cpu().numpy()
                    of = {"weighing": weighing, "merging": at, "layer": layer.weights.number}
                    self._parts.append(_picks(seq, mentions, picked, method="head", **of))

    def rows(self) -> pa.Table:
        return pa.concat_tables(self._parts)


def _picks(seq: int, mentions: Mentions, picked: np.ndarray, *, method: str, **by: Any) -> pa.Table:
    """Return a row for each row of `picked`, of the mentions that have an antecedent."""
    right = antecedents.is_right(np.atleast_2d(picked), mentions.heads, mentions.clusters)
    return rows(
        tables.COREFERENCE_PREDICTION,
        (HEAD,) if method == "head" else (),
        seq=seq,
        method=tables.METHODS.index(method),
        mentions=mentions.places[mentions.scored],
        predicted=np.atleast_2d(picked)[:, mentions.scored],
        correct=right[:, mentions.scored],
        **by,
    )


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
        scored=np.flatnonzero(antecedents.has_antecedent(heads, clusters)),
        texts=tuple(" ".join(forms[mention.first : mention.last + 1]) for mention in read),
        head_texts=tuple(forms[mention.head] for mention in read),
        features=tuple(_features(known, mention) for mention in read),
    )


def _features(known: Annotation, mention: Mention) -> str:
    """Return the features of the head word; plural if the tree coordinates another word with it."""
    features, words = known.features[mention.head], range(mention.first, mention.last + 1)
    governors, relations = known.governors, known.relations
    if governors is None or relations is None:
        return features
    conjuncts = (word for word in words if governors[word] == mention.head)
    if not any(base_of(relations[word]) == "conj" for word in conjuncts):
        return features
    others = [
        feature for feature in features.split("|") if feature and not feature.startswith("Number=")
    ]
    return "|".join([*others, "Number=Plur"])


@fills(WORD_VECTOR)
class VectorsOfWords(FromBatch):
    """Input embedding of each form's first occurrence in a text, without any layer."""

    def rows(self) -> pa.Table:
        parts = [WORD_VECTOR.schema.empty_table()]
        for text, embeddings in self.batch.without_padding(self.batch.word_embeddings):
            if text.annotation is not None and text.word_spans is not None:
                first: dict[str, int] = {}
                for word in np.flatnonzero(~text.masked_words).tolist():
                    first.setdefault(text.annotation.forms[word], word)
                words = np.array(list(first.values()), dtype=np.int64)
                begins, ends = np.split(text.word_spans[words], 2, axis=1)
                place = np.arange(len(embeddings))
                is_piece = (place >= begins) & (place < ends)
                sums = is_piece @ embeddings.double().cpu().numpy()
                means = sums / is_piece.sum(axis=1, keepdims=True)
                forms = np.array(list(first), dtype=object)
                of = {"seq": text.index, "word": words, "vector": means}
                parts.append(rows(WORD_VECTOR, form=forms, **of))
        return pa.concat_tables(parts)
