"""clark-2019, section 4.1: attention between words, one pair of words and one piece at a time."""

import numpy as np
import pytest
import torch

from analysis.measures.probing.word_attention import word_attention
from analysis.statistics.base.weighing import WEIGHT
from analysis.statistics.probing.parsers import WORD_ATTENTION, WORD_VECTOR
from analysis.token_types import CLS, SEP
from precompute.passes import probing
from tests.tracing import layers_of, rows_of_table

Matrix = list[list[float]]
Spans = list[tuple[int, int]]


def slow_mean(attention: Matrix, spans: Spans, attended: Spans) -> Matrix:
    """Mean over the pieces of the attending word, sum over those of the other."""
    return [
        [
            sum(attention[query][key] for query in range(*of) for key in range(*to))
            / (of[1] - of[0])
            for to in attended
        ]
        for of in spans
    ]


def test_words_of_one_piece_keep_their_attention():
    attention = torch.softmax(torch.randn(3, 5, 5, dtype=torch.float64), dim=-1)
    spans = torch.stack([torch.arange(1, 4), torch.arange(2, 5)], dim=1)
    ends = torch.arange(5) == 0, torch.arange(5) == 4
    by_word = word_attention(attention, spans, *ends)
    assert torch.equal(by_word.first, attention[:, 1:4, 1:4])
    assert torch.allclose(by_word.mean, attention[:, 1:4, 1:4])
    assert torch.allclose(by_word.mean.sum(-1) + by_word.cls + by_word.sep, torch.ones(()).double())
    nowhere = torch.zeros(5, dtype=torch.bool)
    assert not word_attention(attention, spans, nowhere, nowhere).cls.any()


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
                    matrix = layer.weighed_alone(text.index, WEIGHT)[head].tolist()
                    given = np.array(slow_mean(matrix, spans, [*spans, *special]))[words]
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
