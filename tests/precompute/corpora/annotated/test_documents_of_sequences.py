"""Documents of sequences: windows of one document are redrawn together."""

from pathlib import Path

from tests.precompute.corpora.tiny import load

TWO = "the cat\nsat the\nmat the\ndog ran\n\nthe dog\nran the\ncat sat\n"


def _documents(path: Path, **options) -> list[int]:
    corpus = load(path, **options)
    assert len(corpus.documents) == len(corpus.sequences)
    return corpus.documents


def _written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_pairs_sentences_and_blocks_are_windows_of_the_document_in_which_they_begin(tmp_path):
    path = _written(tmp_path, "two.txt", TWO)
    assert _documents(path) == [0, 0, 1, 1]
    assert _documents(path, packing="blocks", max_tokens=6) == [0, 0, 1]
    documents = _documents(path, packing="sentences", max_tokens=7)
    assert documents == sorted(documents)
    assert set(documents) == {0, 1}
    assert len(documents) > 2


def test_texts_that_stand_by_themselves_are_numbered_in_their_order(tmp_path):
    texts = '{"text": "the cat"}\n{"text": "the dog"}\n'
    assert _documents(_written(tmp_path, "texts.jsonl", texts)) == [0, 1]
