"""A file cut into texts of one length, none of it lost before the end."""

from collections import Counter

import pytest
from hypothesis import given

from precompute.corpora.texts.packing import blocks
from tests.precompute.corpora.tiny import BUILT, load, unhurried

from .test_packing import documents, numbered

FRAMES = {
    "bert": (("[CLS]",), ("[SEP]",)),
    "roberta": (("<s>",), ("</s>",)),
    "gpt2": ((), ()),
    "llama": (("<s>",), ()),
}
"""What stands before a text and behind it."""


def cut(texts, family, *, max_tokens=8):
    counts = Counter()
    cuts = list(blocks(numbered(texts), BUILT[family], max_tokens=max_tokens, counts=counts))
    return cuts, counts


def pieces_of(texts, family):
    """Every piece of the file in order, each line but the first set off by a space."""
    lines = [line for document in texts for line in document]
    spaced = [lines[0], *(f" {line}" for line in lines[1:])]
    return [piece for line in spaced for piece in BUILT[family].tokenize(line)]


@pytest.mark.parametrize("family", FRAMES)
@unhurried(50)
@given(texts=documents)
def test_every_piece_stands_in_one_block_in_order_and_only_the_rest_is_left(family, texts):
    cuts, counts = cut(texts, family)
    before, after = map(len, FRAMES[family])
    room = 8 - before - after
    kept = [piece for block in cuts for piece in block.tokens[before : 8 - after]]
    read = pieces_of(texts, family)
    left = read[len(kept) :]
    assert kept == read[: len(kept)]
    assert len(left) < room
    assert counts["too_short"] == bool(left)


@pytest.mark.parametrize("family", FRAMES)
def test_every_block_has_the_same_length_and_the_tokenizers_own_frame(family):
    cuts, _ = cut([["the cat sat, the cat ran."] * 3, ["the mat."] * 4], family)
    assert len(cuts) > 1
    assert {len(block.tokens) for block in cuts} == {8}
    before, after = FRAMES[family]
    assert {block.tokens[: len(before)] for block in cuts} == {before}
    assert {block.tokens[8 - len(after) :] for block in cuts} == {after}


def test_a_block_tells_the_lines_it_came_from():
    cuts, _ = cut([["the cat"], ["the the the the the the", "cat"]], "bert")
    spans = [(len(block.tokens), block.place) for block in cuts]
    assert spans[0] == (8, "f.txt lines 1-3")
    assert {n for n, _ in spans} == {8}


@pytest.mark.parametrize("family", FRAMES)
def test_a_corpus_of_blocks_is_read_as_texts_of_one_length(family, tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("the cat sat, the dog ran.\n\nthe mat, the mat.\n" * 9, encoding="utf-8")
    corpus = load(file, family, packing="blocks")
    assert len(corpus.sequences) > 2
    assert {len(sequence) for sequence in corpus.sequences} == {16}
    assert corpus.counts["truncated"] == 0
