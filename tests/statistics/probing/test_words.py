"""Attention between words, and rules for antecedents against a walk back through the text."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.probing.antecedents import (
    NONE,
    agreement,
    attributes,
    has_antecedent,
    head_match,
    is_right,
    nearest,
    sieve,
)
from analysis.measures.probing.word_attention import (
    attended_antecedents,
    predicted_governors,
)
from analysis.statistics.base.weighing import WEIGHT
from analysis.statistics.probing.accuracy import COREFERENCE_PREDICTION
from analysis.statistics.probing.parsers import WORD_ATTENTION, WORD_VECTOR
from analysis.token_types import CLS, SEP
from precompute.corpora.sequence import Annotation, Entry, Mention, MentionKind
from precompute.passes import probing
from precompute.passes.filling import begin
from precompute.passes.layers import Layer, batch_of
from precompute.passes.probing import mentions_of
from tests.tiny import ANNOTATED, HEADS, LAYERS, tiny_model, tiny_sequences
from tests.tracing import layers_of, rows_of_table, trace_of

Spans = list[tuple[int, int]]


def slow_mean(attention: np.ndarray, spans: Spans, attended: Spans) -> np.ndarray:
    """Mean over the pieces of the attending word, sum over those of the other."""
    means = [attention[start:end].mean(axis=0) for start, end in spans]
    return np.array([[mean[start:end].sum() for start, end in attended] for mean in means])


def test_sentences_are_cut_out_of_the_words_of_a_text(tiny, annotated, monkeypatch):
    rows = rows_of_table(WORD_ATTENTION, tiny, annotated).to_pandas()
    found = {(row.seq, row.sentence, row.layer, row.head): row for row in rows.itertuples()}
    for layer in layers_of(tiny, annotated):
        for index, known, by_word in layer.annotated:
            text = annotated[index]
            spans = [(int(start), int(end)) for start, end in text.word_spans]
            places = [np.flatnonzero(text.token_types == kind) for kind in (CLS, SEP)]
            special = [(int(of[0]), int(of[-1]) + 1) if len(of) else (0, 0) for of in places]
            for sentence in set(known.sentences):
                words = [w for w, number in enumerate(known.sentences) if number == sentence]
                for head in range(len(by_word.mean)):
                    row = found.pop((index, sentence, layer.weights.number, head + 1))
                    assert (row.first_word, row.n_words) == (words[0], len(words))
                    matrix = layer.weighed_alone(text.index, WEIGHT)[head].numpy()
                    given = slow_mean(matrix, spans, [*spans, *special])[words]
                    np.testing.assert_allclose(row.attention, given[:, words].ravel(), rtol=1e-6)
                    np.testing.assert_allclose(row.cls, given[:, -2], rtol=1e-6)
                    np.testing.assert_allclose(row.sep, given[:, -1], rtol=1e-6)
    assert not found
    monkeypatch.setattr(probing, "KEPT", 1)
    few = rows_of_table(WORD_ATTENTION, tiny, annotated).to_pandas()
    assert set(few["seq"]) == {0} < set(rows["seq"])


@pytest.mark.parametrize("family", ["bert", "roberta"], indirect=True, scope="session")
def test_vectors_are_means_over_pieces_of_the_first_word_that_is_not_masked(tiny, annotated):
    text = annotated[-1]
    known, spans = text.annotation, text.word_spans
    masked = np.zeros(len(text), dtype=bool)
    masked[spans[0][0]] = True
    hidden = type(text)(**vars(text) | {"masked": masked})
    rows = rows_of_table(WORD_VECTOR, tiny, [hidden]).to_pandas()
    read = list(known.forms[1:])
    assert rows["form"].tolist() == list(dict.fromkeys(read))
    embeddings = tiny.word_embeddings([hidden])[0]
    for row in rows.itertuples():
        assert row.word == read.index(row.form) + 1
        start, end = spans[row.word]
        np.testing.assert_allclose(row.vector, embeddings[start:end].mean(dim=0), rtol=1e-5)


def test_the_first_of_equal_words_is_picked():
    attention = torch.full((2, 6, 6), 1 / 6)
    assert attended_antecedents(attention, torch.tensor([2, 3, 5])).tolist() == [[NONE, 2, 2]] * 2
    sentence = torch.tensor([0, 0, 0, 1, 1, 2])
    for picked in predicted_governors(attention, sentence, is_causal=False):
        assert picked.tolist() == [[1, 0, 0, 4, 3, NONE]] * 2


FEATURES = (
    "",
    "Number=Sing",
    "Number=Plur",
    "Gender=Masc|Number=Sing|Person=3|PronType=Prs",
    "Gender=Fem,Masc|Number=Sing|Person=3|PronType=Prs",
    "Number=Sing|Person=1|PronType=Prs",
    "Number=Sing|Number[psor]=Plur|Person[psor]=1|Poss=Yes|PronType=Prs",
    "Number=Plur|Person=1|Tense=Past|VerbForm=Fin",
    "PronType=Dem",
)
TEXTS, HEAD_TEXTS = ["the cat", "a cat", "it"], ["cat", "it"]
MENTIONS = st.lists(
    st.tuples(
        st.integers(0, 14),
        st.integers(0, 3),
        st.integers(-1, 14),
        st.sampled_from(TEXTS),
        st.sampled_from(HEAD_TEXTS),
        st.sampled_from(FEATURES),
    ),
    min_size=1,
    max_size=8,
)


def _values(features: str, name: str) -> set[str] | None:
    """Possible values of an attribute; None if nothing is known of it."""
    keys = dict(part.split("=", 1) for part in features.split("|") if "=" in part)
    if "VerbForm" in keys:
        return None
    for key in (f"{name}[psor]", name):
        if key in keys:
            return set(keys[key].split(","))
    return {"3"} if name == "Person" and keys and "PronType" not in keys else None


def slow_agreement(one: str, other: str) -> bool:
    both = [[_values(of, name) for of in (one, other)] for name in ("Number", "Gender", "Person")]
    return all(first is None or second is None or first & second for first, second in both)


@given(mentions=MENTIONS)
def test_rules_walk_back_through_the_text_and_picks_are_judged_by_cluster(mentions):
    """clark-2019, section 4.3, and lee-2011, section 2.3."""
    heads, clusters, words, texts, head_texts, features = map(list, zip(*mentions, strict=True))
    picked = {"nearest": [], "head_match": [], "sieve": []}
    right, something = [], []
    for m, head in enumerate(heads):
        before = sorted((e for e in range(len(heads)) if heads[e] < head), key=lambda e: -heads[e])
        same_head = [e for e in before if head_texts[e] == head_texts[m]]
        agree = [e for e in before if slow_agreement(features[e], features[m])]
        rules = [[e for e in before if texts[e] == texts[m]], same_head, agree, before]
        caught = next((found for found in rules if found), [])
        for name, found in (("nearest", before), ("head_match", same_head), ("sieve", caught)):
            picked[name].append(heads[found[0]] if found else -1)
        antecedents = {heads[e] for e in before if clusters[e] == clusters[m]}
        right.append(words[m] in antecedents)
        something.append(bool(antecedents))
    places, things = np.array(heads), np.array(clusters)
    assert nearest(places).tolist() == picked["nearest"]
    assert head_match(places, head_texts).tolist() == picked["head_match"]
    by_sieve = sieve(places, texts, head_texts, agreement(features))
    assert by_sieve.tolist() == picked["sieve"]
    assert is_right(np.array([words]), places, things)[0].tolist() == right
    assert has_antecedent(places, things).tolist() == something


def test_nouns_are_of_the_third_person_and_pronouns_of_what_is_written():
    persons = {"Number=Sing": {"3"}, "PronType=Dem": set(), "Person=1|PronType=Prs": {"1"}}
    assert {features: attributes(features)[-1] for features in persons} == persons


N_WORDS = 30


def _text(mentions: list[tuple[int, int, MentionKind]]) -> Annotation:
    """A text of one-word mentions: place, cluster, kind."""
    return Annotation(
        forms=tuple(f"word{place}" for place in range(N_WORDS)),
        spaces=(True,) * N_WORDS,
        sentences=(0,) * N_WORDS,
        governors=None,
        relations=None,
        parts_of_speech=("",) * N_WORDS,
        features=("",) * N_WORDS,
        mentions=tuple(Mention(w, w, w, cluster, kind) for w, cluster, kind in mentions),
    )


def _rows(known: Annotation, attention: torch.Tensor, masked: tuple[int, ...] = ()) -> list[dict]:
    """Rows of a text with planted attention between words, the same in every head."""
    (sequence,) = tiny_sequences("bert", (Entry("line 1", annotation=known),))
    assert len(sequence) == len(known) + 2, "a word has more than one piece"
    is_masked = np.isin(np.arange(len(sequence)), np.array(masked) + 1)
    model, sequences = tiny_model("bert"), [replace(sequence, masked=is_masked)]
    planted = torch.zeros(1, HEADS, len(sequence), len(sequence), dtype=torch.float64)
    planted[:, :, 1:-1, 1:-1] = attention
    batch = batch_of(model, sequences)
    filling = begin(COREFERENCE_PREDICTION, batch)
    for index, layer in enumerate(trace_of(model, sequences).layers):
        filling.add(Layer(batch, index, replace(layer, attention=planted)))
    return filling.rows().to_pylist()


def test_mentions_with_a_masked_word_are_left_out_for_heads_and_rules_alike():
    places = [(2, 1), (5, 2), (9, 1), (12, 2), (15, 1)]
    known = _text([(place, cluster, "nominal") for place, cluster in places])
    attention = torch.zeros(N_WORDS, N_WORDS)
    attention[15, 9], attention[15, 2] = 1.0, 0.5
    unmasked, read = _rows(known, attention), _rows(known, attention, masked=(9, 5))
    assert len(unmasked) == len(read) == 2 * 2 * LAYERS * HEADS + 3
    assert {tuple(row["mentions"]) for row in unmasked} == {(2, 3, 4)}
    assert {tuple(row["mentions"]) for row in read} == {(4,)}, "(12) has lost its antecedent"
    picked = {row["method"]: row["predicted"][-1] for row in read}
    assert picked["head"] == 2
    assert picked["nearest"] == 12
    assert {row["predicted"][-1] for row in unmasked if row["weighing"] == "weight"} == {9}


def test_a_text_where_nothing_can_be_found_has_no_rows():
    noise = torch.rand(N_WORDS, N_WORDS)
    assert _rows(_text([(2, 1, "nominal"), (5, 2, "nominal")]), noise) == []
    plain: Any = ANNOTATED[0].annotation
    assert not plain.mentions
    assert _rows(plain, noise[: len(plain), : len(plain)]) == []


def test_things_joined_together_are_plural():
    joined = Annotation(
        forms=("Dog", ",", "cat", "ran", ".", "Mat", "sat"),
        spaces=(True,) * 7,
        sentences=(0,) * 5 + (1,) * 2,
        governors=(3, 2, 0, -1, 3, 6, -1),
        relations=("nsubj", "punct", "conj:and", "root", "punct", "nsubj", "root"),
        parts_of_speech=("NOUN", "PUNCT", "NOUN", "VERB", "PUNCT", "PRON", "VERB"),
        features=("Gender=Fem|Number=Sing", "", "Number=Sing", "", "", "Number=Plur", ""),
        mentions=(
            Mention(0, 2, 0, cluster=1, kind="nominal"),
            Mention(2, 2, 2, cluster=2, kind="nominal"),
            Mention(5, 5, 5, cluster=1, kind="pronoun"),
        ),
    )
    mentions = mentions_of(joined, np.zeros(7, dtype=bool))
    assert mentions.features == ("Gender=Fem|Number=Plur", "Number=Sing", "Number=Plur")
    assert mentions.texts == ("dog , cat", "cat", "mat")
    rows = [row for row in _rows(joined, torch.rand(7, 7)) if row["method"] != "head"]
    assert {row["method"]: (row["predicted"], row["correct"]) for row in rows} == {
        "nearest": ([2], [False]),
        "head_match": ([-1], [False]),
        "sieve": ([0], [True]),
    }
