"""Words and mentions of annotated texts, and those that heads attend to: rows from layers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Bool, Float, Int32

from analysis.measures.probing.antecedents import (
    agreement,
    has_antecedent,
    head_match,
    is_right,
    nearest,
    sieve,
)
from analysis.measures.probing.governors import base_of
from analysis.measures.probing.word_attention import (
    WordAttention,
    attended_antecedents,
    predicted_governors,
)
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.base.weighing import WEIGHINGS
from analysis.statistics.probing import coreference_accuracy, dependency_accuracy, parser_input
from analysis.statistics.probing.coreference_accuracy import BASELINES, METHODS
from analysis.statistics.probing.dependency_scores import DIRECTIONS
from analysis.statistics.rows import lists_of, names_of, one_name, table_of
from precompute.corpora.annotated.annotation import Annotation, Mention
from precompute.corpora.sequence import Sequence
from precompute.passes.filling import FromBatch, fills
from precompute.passes.layers import Batch, Layer

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


@fills(parser_input.ATTENTION)
def attention_of_sentences(layer: Layer) -> Iterator[pa.Table]:
    """Return the attention between the words of each sentence of the first annotated sequences.

    Formula: `norm_weighted_attention`, `value_norms`, `word_attention`.
    """
    n_heads = layer.batch.n_heads
    places = {"layer": np.full(n_heads, layer.index), "head": np.arange(n_heads)}
    for index, annotation, attention in layer.annotated:
        for sentence in _sentences_of(index, annotation, attention):
            columns = {
                name: lists_of(value.reshape(n_heads, -1))
                if isinstance(value, np.ndarray)
                else np.full(n_heads, value)
                for name, value in sentence.items()
            }
            yield table_of(parser_input.ATTENTION, **places, **columns)


def _sentences_of(
    index: int, known: Annotation, attention: WordAttention
) -> Iterator[dict[str, Any]]:
    mean, cls, sep = (
        tensor.cpu().numpy() for tensor in (attention.mean, attention.cls, attention.sep)
    )
    for number in sorted(set(known.sentences)) if index < parser_input.KEPT else ():
        words = np.flatnonzero(np.array(known.sentences) == number)
        first, n_words = words[0], len(words)
        span = slice(first, first + n_words)
        yield {
            "seq": index,
            "sentence": number,
            "first_word": first,
            "n_words": n_words,
            "attention": mean[:, span, span],
            "cls": cls[:, span],
            "sep": sep[:, span],
        }


@fills(dependency_accuracy.PREDICTION)
def governors_of_words(layer: Layer) -> Iterator[pa.Table]:
    """Return the governors that every head predicts for each word with a tree.

    Formula: `norm_weighted_attention`, `predicted_governors`, `value_norms`, `word_attention`.
    """
    for by_weight, by_norm in zip(layer.annotated, layer.annotated_by_norm, strict=True):
        index, known, _ = by_weight
        if known.governors is not None:
            predicted = [
                [_predicted(layer, attention, known) for attention in (words.mean, words.first)]
                for _, _, words in (by_weight, by_norm)
            ]
            yield _governors(layer, index, np.array(predicted))


def _predicted(layer: Layer, attention: torch.Tensor, known: Annotation) -> np.ndarray:
    """Predicted governors: direction × head × word."""
    sentences = torch.tensor(known.sentences, device=attention.device)
    both = predicted_governors(attention, sentences, is_causal=layer.weights.is_causal)
    return torch.stack(both).cpu().numpy()


def _governors(layer: Layer, index: int, predicted: np.ndarray) -> pa.Table:
    weighing, merging, direction, head = (axis.ravel() for axis in np.indices(predicted.shape[:-1]))
    starts = np.arange(len(head) + 1, dtype=np.int32) * predicted.shape[-1]
    return table_of(
        dependency_accuracy.PREDICTION,
        seq=np.full(len(head), index),
        layer=np.full(len(head), layer.index),
        head=head,
        direction=names_of(direction, DIRECTIONS),
        weighing=names_of(weighing, WEIGHINGS),
        merging=names_of(merging, MERGINGS),
        predicted=pa.ListArray.from_arrays(starts, predicted.ravel().astype(np.int16)),
    )


@fills(coreference_accuracy.PREDICTION)
class AntecedentsOfMentions:
    """Antecedents that rules and the heads of each layer pick, text by text.

    It keeps the mentions of the batch's texts beside the rows.

    Formula: `agreement`, `attended_antecedents`, `base_of`, `has_antecedent`, `head_match`,
        `is_right`, `nearest`, `norm_weighted_attention`, `sieve`, `token_relations`,
        `value_norms`, `word_attention`.
    """

    def __init__(self, batch: Batch):
        known = (
            (text.index, mentions_of(text.annotation, text.masked_words))
            for text in batch.sequences
            if text.annotation is not None
        )
        self._mentions = {seq: mentions for seq, mentions in known if len(mentions.scored)}
        self._parts = [coreference_accuracy.PREDICTION.schema.empty_table()]
        for seq, mentions in self._mentions.items():
            self._parts += _of_rules(seq, mentions)

    def add(self, layer: Layer) -> None:
        weighed = (layer.annotated, layer.annotated_by_norm)
        for weighing, annotated in zip(WEIGHINGS, weighed, strict=True):
            for seq, _, attention in annotated:
                if seq in self._mentions:
                    self._parts += _of_heads(layer, seq, self._mentions[seq], attention, weighing)

    def rows(self) -> pa.Table:
        return pa.concat_tables(self._parts)


def _of_heads(
    layer: Layer, seq: int, mentions: Mentions, attention: WordAttention, weighing: str
) -> Iterator[pa.Table]:
    for merging in MERGINGS:
        given = getattr(attention, merging)
        heads = torch.from_numpy(mentions.heads).to(given.device)
        picked = attended_antecedents(given, heads).cpu().numpy()
        yield _picks(
            seq,
            mentions,
            picked,
            method="head",
            weighing=one_name(weighing, WEIGHINGS, len(picked)),
            merging=one_name(merging, MERGINGS, len(picked)),
            layer=np.full(len(picked), layer.index),
            head=np.arange(len(picked)),
        )


def _of_rules(seq: int, mentions: Mentions) -> Iterator[pa.Table]:
    picked = {
        "nearest": nearest(mentions.heads),
        "head_match": head_match(mentions.heads, mentions.head_texts),
        "sieve": sieve(
            mentions.heads, mentions.texts, mentions.head_texts, agreement(mentions.features)
        ),
    }
    for method in BASELINES:
        yield _picks(seq, mentions, picked[method][None], method=method)


def _picks(
    seq: int, mentions: Mentions, picked: np.ndarray, *, method: str, **of_head: Any
) -> pa.Table:
    """One row per row of `picked`, of the mentions that have an antecedent."""
    n = len(picked)
    right = is_right(picked, mentions.heads, mentions.clusters)[:, mentions.scored]
    of_rule = dict.fromkeys(("weighing", "merging", "layer", "head"), pa.nulls(n))
    return table_of(
        coreference_accuracy.PREDICTION,
        seq=np.full(n, seq),
        method=one_name(method, METHODS, n),
        **(of_head or of_rule),
        mentions=pa.array([mentions.places[mentions.scored].tolist()] * n, pa.list_(pa.int16())),
        predicted=pa.array(picked[:, mentions.scored].tolist(), pa.list_(pa.int16())),
        correct=pa.array(right.tolist(), pa.list_(pa.bool_())),
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


@fills(parser_input.VECTOR)
class VectorsOfWords(FromBatch):
    """Input embedding of each form's first occurrence in a text, without any layer."""

    def rows(self) -> pa.Table:
        rows = [parser_input.VECTOR.schema.empty_table()]
        for text, embeddings in self.batch.without_padding(self.batch.word_embeddings):
            if text.annotation is not None and text.word_spans is not None:
                first = _first_words(text, text.annotation.forms)
                spans = text.word_spans[list(first.values())]
                means = _mean_of_pieces(embeddings.double().cpu().numpy(), spans)
                rows.append(
                    table_of(
                        parser_input.VECTOR,
                        form=pa.array(list(first), pa.string()),
                        seq=np.full(len(first), text.index),
                        word=np.array(list(first.values()), dtype=np.int64),
                        vector=lists_of(means),
                    )
                )
        return pa.concat_tables(rows)


def _first_words(sequence: Sequence, forms: tuple[str, ...]) -> dict[str, int]:
    first: dict[str, int] = {}
    for word in np.flatnonzero(~sequence.masked_words).tolist():
        first.setdefault(forms[word], word)
    return first


def _mean_of_pieces(
    embeddings: Float[np.ndarray, "token width"], spans: Int32[np.ndarray, "word two"]
) -> Float[np.ndarray, "word width"]:
    place = np.arange(len(embeddings))
    is_piece = (place >= spans[:, :1]) & (place < spans[:, 1:])
    return is_piece @ embeddings / is_piece.sum(axis=1, keepdims=True)
