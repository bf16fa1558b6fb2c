"""Which sequences are windows of one document, and are therefore redrawn together."""

import numpy as np

from precompute.corpora.load import load_corpus
from tests.precompute.corpora.tiny import bert_like


def _documents(tmp_path, text: str, **options: Any) -> list[int]:
    path = tmp_path / "text.txt"
    path.write_text(text, encoding="utf-8")
    corpus = load_corpus(
        str(path),
        bert_like(),
        positions=64,
        segment_types=2,
        seed=0,
        **{"max_tokens": 16} | options,
    )
    assert len(corpus.documents) == len(corpus.sequences)
    return corpus.documents.tolist()


TWO = "the cat\nsat the\nmat the\ndog ran\n\nthe dog\nran the\ncat sat\n"


def test_pairs_of_paragraphs_are_windows_of_their_document(tmp_path):
    assert _documents(tmp_path, TWO) == [0, 0, 1, 1]


def test_packed_sentences_are_windows_of_their_document(tmp_path):
    found = _documents(tmp_path, TWO, packing="sentences", max_tokens=7)
    assert found == sorted(found)
    assert set(found) == {0, 1}
    assert len(found) > 2


def test_blocks_are_windows_of_the_document_in_which_they_begin(tmp_path):
    assert _documents(tmp_path, TWO, packing="blocks", max_tokens=6) == [0, 0, 1]


def test_texts_that_stand_by_themselves_are_numbered_in_their_order(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "the cat"}\n{"text": "the dog"}\n', encoding="utf-8")
    corpus = load_corpus(
        str(path), bert_like(), positions=64, segment_types=2, max_tokens=16, seed=0
    )
    np.testing.assert_array_equal(corpus.documents, [0, 1])
