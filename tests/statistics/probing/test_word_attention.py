"""clark-2019, section 4.1: attention between words, one pair of words and one piece at a time."""

import numpy as np
import pytest
import torch

from analysis.measures.probing.word_attention import word_attention
from analysis.statistics.base.weighing import NORM, WEIGHT
from analysis.statistics.probing import parser_input
from analysis.token_types import CLS, SEP
from tests.tracing import layers_of, rows_of_table

Matrix = list[list[float]]
Spans = list[tuple[int, int]]


def slow_mean(attention: Matrix, spans: Spans) -> Matrix:
    """Mean over the pieces of the attending word, sum over those of the other."""
    return [
        [
            sum(attention[query][key] for query in range(*of) for key in range(*to))
            / (of[1] - of[0])
            for to in spans
        ]
        for of in spans
    ]


def slow_first(attention: Matrix, spans: Spans) -> Matrix:
    """Attention of the first piece of each word to each word."""
    return [[sum(attention[of[0]][key] for key in range(*to)) for to in spans] for of in spans]


def test_words_are_merged_piece_by_piece_whatever_weighs_attention(tiny, annotated):
    for layer in layers_of(tiny, annotated):
        ways = ((WEIGHT, layer.annotated), (NORM, layer.annotated_by_norm))
        for weighing, of_texts in ways:
            assert len(of_texts) == len(annotated)
            for row, (index, _, by_word) in enumerate(of_texts):
                text = annotated[row]
                assert index == text.index
                spans = [(int(start), int(end)) for start, end in text.word_spans]
                special = [np.flatnonzero(text.token_types == kind) for kind in (CLS, SEP)]
                for head, matrix in enumerate(layer.weighed_alone(row, weighing).tolist()):
                    ours = by_word.mean[head], by_word.first[head]
                    np.testing.assert_allclose(ours[0], slow_mean(matrix, spans), atol=1e-12)
                    np.testing.assert_allclose(ours[1], slow_first(matrix, spans), atol=1e-12)
                    given = (by_word.cls[head], by_word.sep[head])
                    for found, places in zip(given, special, strict=True):
                        to_special = np.array(matrix)[:, places].sum(axis=1)
                        expected = [to_special[slice(*of)].mean() for of in spans]
                        np.testing.assert_allclose(found, expected, atol=1e-12)


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
    rows = rows_of_table(parser_input.ATTENTION, tiny, annotated).to_pandas()
    found = {(row.seq, row.sentence, row.layer, row.head): row for row in rows.itertuples()}
    for layer in layers_of(tiny, annotated):
        for index, known, by_word in layer.annotated:
            for sentence in set(known.sentences):
                words = [w for w, number in enumerate(known.sentences) if number == sentence]
                for head in range(len(by_word.mean)):
                    row = found.pop((index, sentence, layer.index, head))
                    assert (row.first_word, row.n_words) == (words[0], len(words))
                    given = by_word.mean[head][words][:, words].ravel()
                    np.testing.assert_allclose(row.attention, given, rtol=1e-6)
                    np.testing.assert_allclose(row.cls, by_word.cls[head][words], rtol=1e-6)
                    np.testing.assert_allclose(row.sep, by_word.sep[head][words], rtol=1e-6)
    assert not found
    monkeypatch.setattr(parser_input, "KEPT", 1)
    few = rows_of_table(parser_input.ATTENTION, tiny, annotated).to_pandas()
    assert set(few["seq"]) == {0} < set(rows["seq"])


@pytest.mark.parametrize("family", ["bert", "roberta"], indirect=True, scope="session")
def test_vectors_are_means_over_pieces_of_the_first_word_that_is_not_masked(tiny, annotated):
    text = annotated[-1]
    known, spans = text.annotation, text.word_spans
    masked = np.zeros(len(text), dtype=bool)
    masked[spans[0][0]] = True
    hidden = type(text)(**vars(text) | {"masked": masked})
    rows = rows_of_table(parser_input.VECTOR, tiny, [hidden]).to_pandas()
    read = list(known.forms[1:])
    assert rows["form"].tolist() == list(dict.fromkeys(read))
    embeddings = tiny.word_embeddings([hidden])[0]
    for row in rows.itertuples():
        assert row.word == read.index(row.form) + 1
        start, end = spans[row.word]
        np.testing.assert_allclose(row.vector, embeddings[start:end].mean(dim=0), rtol=1e-5)
