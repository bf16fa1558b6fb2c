"""Pairs, packed sentences, blocks and windows: nothing is lost that is not counted."""

from collections import Counter
from itertools import accumulate
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from precompute.corpora.annotated import documents as window_module
from precompute.corpora.annotated.documents import Document, Sentence, windows
from precompute.corpora.load import blocks, packed, paired
from precompute.corpora.sequence import ROOT, Mention
from precompute.corpora.source import Line
from precompute.corpora.tokenizing.kind import word_pieces
from tests.precompute.corpora.tiny import (
    BUILT,
    FRAMES,
    SEGMENT_TYPES,
    TOKENIZERS,
    encode,
    unhurried,
)

BERT = BUILT["bert"]
ROOM = {"bert": 13, "roberta": 12, "gpt2": 16, "llama": 14}
"""Of 16, by the special tokens of a pair."""

lines = st.lists(st.sampled_from(["the", "cat", "sat,", "zz.", "x"]), min_size=1, max_size=9)
document = st.lists(lines.map(" ".join), min_size=1, max_size=8)
documents = st.lists(document, min_size=1, max_size=4)


def numbered(texts):
    """Lines of the documents in a file."""
    return [[Line("f.txt", n, text) for n, text in enumerate(lines, 1)] for lines in texts]


def pack(texts, tokenizer=BERT, *, max_tokens=16, seed=0, segment_types=2):
    counts = Counter()
    sizes = {"max_tokens": max_tokens, "segment_types": segment_types}
    return list(packed(numbered(texts), tokenizer, seed=seed, counts=counts, **sizes)), counts


def sides(entry):
    """The two texts of an entry in BERT's template."""
    end = entry.tokens.index("[SEP]")
    return entry.tokens[1:end], entry.tokens[end + 1 : -1]


def is_part(part, text):
    return any(text[n : n + len(part)] == part for n in range(len(text) - len(part) + 1))


@unhurried(50)
@given(texts=documents)
def test_every_paragraph_stands_in_one_entry_with_its_neighbour(texts):
    counts = Counter()
    entries = list(paired(numbered(texts), counts=counts))
    kept = [text for entry in entries for text in entry.texts]
    assert kept == [text for paragraphs in texts for text in paragraphs]
    assert counts["unpaired"] == sum(len(paragraphs) % 2 for paragraphs in texts)


@unhurried(50)
@given(texts=documents, seed=st.integers(0, 9))
def test_packed_sides_are_neighbouring_spans_and_no_piece_is_lost_that_is_not_counted(texts, seed):
    """Of lines too short to overfill a sequence, what is read is what is packed or counted."""
    entries, _ = pack(texts, seed=seed)
    assert len(entries) >= sum(len(BERT.tokenize(" ".join(paragraphs))) > 3 for paragraphs in texts)
    wholes = [tuple(BERT.tokenize(" ".join(paragraphs))) for paragraphs in texts]
    for entry in entries:
        first, second = sides(entry)
        assert min(len(first), len(second)) >= 2
        assert len(entry.tokens) <= 16
        assert any(is_part(first, whole) and is_part(second, whole) for whole in wholes)
    short = [[line[:4] for line in paragraphs] for paragraphs in texts]
    entries, counts = pack(short, max_tokens=100, seed=seed)
    pieces = [len(BERT.tokenize(" ".join(paragraphs))) for paragraphs in short]
    assert [sum(map(len, sides(entry))) for entry in entries] == [n for n in pieces if n >= 4]
    assert counts == Counter(too_short=sum(n < 4 for n in pieces), truncated=0)


@pytest.mark.parametrize("family", TOKENIZERS)
def test_packed_entries_are_full_and_in_the_template_of_the_tokenizer(family):
    tokenizer, types = BUILT[family], SEGMENT_TYPES[family]
    entries, counts = pack([["the cat sat"] * 40], tokenizer, segment_types=types)
    assert {len(entry.tokens) for entry in entries[:-1]} == {16}
    assert len(entries[-1].tokens) <= 16
    assert counts["truncated"] >= (len(entries) - 1) * (ROOM[family] % 3 > 0)
    (entry, *_), _ = pack([["the cat", "sat the"]], tokenizer, max_tokens=60)
    second = "sat the" if family == "bert" else " sat the"
    seen = tokenizer("the cat", second, return_token_type_ids=True)
    assert (entry.tokens, entry.segments) == (tuple(seen.tokens()), tuple(seen["token_type_ids"]))


def test_the_cut_is_at_the_end_of_a_line_drawn_at_random():
    cuts = Counter(len(sides(pack([["the cat"] * 6], seed=seed)[0][0])[0]) for seed in range(500))
    assert set(cuts) == {2, 4, 6, 8, 10}
    assert min(cuts.values()) > 60


def test_pieces_are_dropped_from_both_ends_of_the_longer_side():
    """One line of 30 pieces for 13 places: what is left of either side lies inside it."""
    letters = "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d"
    starts, ends, lengths = set(), set(), Counter()
    for seed in range(200):
        entries, counts = pack([[letters]], seed=seed)
        first, second = sides(entries[0])
        assert len(first) + len(second) == 13
        assert counts["truncated"] == 1
        starts.add(first[0])
        ends.add(second[-1])
        lengths[len(first), len(second)] += 1
    assert min(len(starts), len(ends)) > 5
    assert lengths.most_common(1)[0][0] == (7, 6), "of two equally long sides the second is cut"


def test_draws_depend_on_seed_and_index_and_not_on_what_stands_before():
    text = ["the cat sat", "the dog ran", "the mat"]
    seconds = [pack([first, text])[0][1] for first in (["a b c d"], ["x y", "z z", "a b c d e f"])]
    assert seconds[0].tokens == seconds[1].tokens
    assert len({pack([text], seed=seed)[0][0].tokens for seed in range(20)}) > 1


@pytest.mark.parametrize("family", FRAMES)
@unhurried(50)
@given(texts=documents)
def test_every_piece_stands_in_one_framed_block_in_order_and_only_the_rest_is_left(family, texts):
    counts, (before, _, after) = Counter(), FRAMES[family]
    read = list(blocks(numbered(texts), BUILT[family], max_tokens=8, counts=counts))
    last = 8 - len(after)
    frames = [[*block.tokens[: len(before)], *block.tokens[last:]] for block in read]
    assert frames == [before + after] * len(read)
    assert {len(block.tokens) for block in read} <= {8}
    kept = [piece for block in read for piece in block.tokens[len(before) : last]]
    first, *others = [line for paragraphs in texts for line in paragraphs]
    spaced = [first, *(f" {line}" for line in others)]
    pieces = [piece for line in spaced for piece in BUILT[family].tokenize(line)]
    assert kept == pieces[: len(kept)]
    assert len(pieces) - len(kept) < last - len(before)
    assert counts["too_short"] == (len(kept) < len(pieces))


def sentence(number: int, forms: tuple[str, ...], *, tree: bool = True) -> Sentence:
    """Every word hangs on the first, which is the root."""
    nothing = ("",) * len(forms)
    return Sentence(
        forms=forms,
        spaces=(True,) * len(forms),
        governors=(ROOT, *(0,) * (len(forms) - 1)) if tree else None,
        relations=("root", *("dep",) * (len(forms) - 1)) if tree else None,
        parts_of_speech=nothing,
        features=nothing,
        first=Line("f", number, ""),
        last=Line("f", number, ""),
    )


@st.composite
def drawn_documents(draw) -> Document:
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=8))
    words = st.sampled_from(["cat", "sat", "zz", ","])
    sentences = tuple(
        sentence(number, tuple(draw(words) for _ in range(length)))
        for number, length in enumerate(lengths)
    )
    n_words = sum(lengths)
    spans = draw(st.lists(st.tuples(*[st.integers(0, n_words - 1)] * 2), max_size=8, unique=True))
    mentions = tuple(
        Mention(first, last, first, cluster=0, kind="nominal")
        for first, last in sorted(spans)
        if first <= last
    )
    return Document(sentences, mentions, bears_coreference=draw(st.booleans()))


TWICE = Document((sentence(0, ("cat",)),) * 2, bears_coreference=True)
"""A document whose second sentence is longer behind the first, by a space."""


@unhurried(80)
@given(drawn_documents(), st.sampled_from(sorted(TOKENIZERS)), st.integers(6, 16), st.booleans())
@example(document=TWICE, family="gpt2", room=6, alone=False)
def test_windows_hold_whole_sentences_in_order_and_fit(document, family, room, alone):
    counts = Counter()
    cuts = cut(document, family, room, by_sentence=alone, counts=counts)
    fits = [parsed for parsed in document.sentences if size_of(parsed, family) <= room]
    read = [form for entry in cuts for form in entry.annotation.forms]
    assert read == [form for parsed in fits for form in parsed.forms]
    assert counts["too_long"] == len(document.sentences) - len(fits)
    assert max((len(encode(entry, family)[0]) for entry in cuts), default=0) <= room
    if alone or not document.bears_coreference:
        assert all(set(entry.annotation.sentences) == {0} for entry in cuts)


def test_windows_hold_as_many_sentences_as_fit():
    document = Document((sentence(0, ("cat", "sat", ".")),) * 10, bears_coreference=True)
    cuts = cut(document, "bert", 16, by_sentence=False, counts=Counter())
    assert [len(entry.annotation) // 3 for entry in cuts] == [4, 4, 2]


def test_a_sentence_of_too_many_words_is_left_out_without_being_tokenized(monkeypatch):
    forms = [("cat",) * 3, ("cat",) * 1000, ("sat",) * 3]
    document = Document(tuple(map(sentence, range(3), forms)), (), bears_coreference=False)
    noted, counts = Mock(side_effect=word_pieces), Counter()
    monkeypatch.setattr(window_module, "word_pieces", noted)
    assert len(cut(document, "bert", 16, by_sentence=True, counts=counts)) == 2
    assert max(len(call.args[0]) for call in noted.call_args_list) == 3
    assert counts["too_long"] == 1


def cut(
    document: Document, family: str, room: int, *, by_sentence: bool, counts: Counter[str]
) -> list[Any]:
    """The windows of one document."""
    settings = {"max_tokens": room, "by_sentence": by_sentence}
    return list(windows([document], BUILT[family], counts=counts, **settings))


def size_of(alone: Sentence, family: str) -> int:
    """Tokens of a sentence by itself, special ones included."""
    (entry,) = cut(Document((alone,)), family, 64, by_sentence=True, counts=Counter())
    return len(encode(entry, family)[0])


@unhurried(80)
@given(drawn_documents(), st.integers(6, 40))
def test_mentions_are_kept_or_cut_and_counted(document, room):
    counts = Counter()
    cuts = cut(document, "bert", room, by_sentence=False, counts=counts)
    if counts["too_long"]:
        return
    starts = [0, *accumulate(len(entry.annotation) for entry in cuts)]
    kept = [
        (start + mention.first, start + mention.last)
        for start, entry in zip(starts, cuts, strict=False)
        for mention in entry.annotation.mentions
    ]
    crossed = {
        (mention.first, mention.last): sum(mention.first < edge <= mention.last for edge in starts)
        for mention in document.mentions
    }
    assert sorted(kept) == [place for place, n in crossed.items() if not n]
    assert counts["mentions_cut"] == sum(crossed.values())
