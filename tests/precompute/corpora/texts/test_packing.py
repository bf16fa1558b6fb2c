from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadCorpus, UserError
from precompute.corpora.sequence import Entry
from precompute.corpora.source import Line
from precompute.corpora.texts.packing import packed, paired
from tests.precompute.corpora.tiny import (
    SEGMENT_TYPES,
    TOKENIZERS,
    bert_like,
    unhurried,
)
from tests.refusals import refused

BERT = bert_like()
ROOM = {
    "bert": 13,
    "roberta": 12,
    "gpt2": 16,
    "llama": 14,
}
"""Of 16, by the special tokens of a pair."""

lines = st.lists(st.sampled_from(["the", "cat", "sat,", "zz.", "x"]), min_size=1, max_size=9)
document = st.lists(lines.map(" ".join), min_size=1, max_size=8)
documents = st.lists(document, min_size=1, max_size=4)


def numbered(texts):
    """Lines of the documents in a file, with a blank line after each document."""
    number, groups = 0, []
    for paragraphs in texts:
        groups.append(
            [Line("f.txt", number + n, text) for n, text in enumerate(paragraphs, start=1)]
        )
        number += len(paragraphs) + 1
    return groups


def pack(texts, tokenizer=BERT, *, max_tokens=16, seed=0, segment_types=2):
    counts = Counter()
    entries = packed(
        numbered(texts),
        tokenizer,
        max_tokens=max_tokens,
        seed=seed,
        segment_types=segment_types,
        counts=counts,
    )
    return list(entries), counts


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
    assert counts["unpaired"] == sum(len(entry.texts) == 1 for entry in entries)
    assert counts["unpaired"] == sum(len(paragraphs) % 2 for paragraphs in texts)


def test_pair_is_placed_by_both_its_lines():
    assert list(paired(numbered([["a", "b", "c"], ["d"]]), counts=Counter())) == [
        Entry("f.txt lines 1-2", ("a", "b"), document=0),
        Entry("f.txt line 3", ("c",), document=0),
        Entry("f.txt line 5", ("d",), document=1),
    ]


@unhurried(50)
@given(texts=documents, seed=st.integers(0, 9))
def test_packed_sides_are_neighbouring_spans_of_one_document(texts, seed):
    entries, _ = pack(texts, seed=seed)
    assert len(entries) >= sum(len(BERT.tokenize(" ".join(paragraphs))) > 3 for paragraphs in texts)
    for entry in entries:
        first, second = sides(entry)
        assert min(len(first), len(second)) >= 2
        assert len(entry.tokens) <= 16
        wholes = [tuple(BERT.tokenize(" ".join(paragraphs))) for paragraphs in texts]
        assert any(is_part(first, whole) and is_part(second, whole) for whole in wholes)


@unhurried(50)
@given(texts=documents, seed=st.integers(0, 9))
def test_no_piece_is_lost_unless_it_is_counted(texts, seed):
    """Lines too short to overfill a sequence: what is read is what is packed or counted."""
    short = [[line[:4] for line in paragraphs] for paragraphs in texts]
    entries, counts = pack(short, max_tokens=100, seed=seed)
    kept = [sum(map(len, sides(entry))) for entry in entries]
    pieces = [len(BERT.tokenize(" ".join(paragraphs))) for paragraphs in short]
    assert kept == [n for n in pieces if n >= 4]
    assert counts == Counter(too_short=sum(n < 4 for n in pieces), truncated=0)


@pytest.mark.parametrize("family", TOKENIZERS)
def test_long_document_fills_every_sequence_but_the_last(family):
    room = ROOM[family]
    entries, counts = pack(
        [["the cat sat"] * 40], TOKENIZERS[family](), segment_types=SEGMENT_TYPES[family]
    )
    assert {len(entry.tokens) for entry in entries[:-1]} == {16}
    assert len(entries[-1].tokens) <= 16
    assert counts["truncated"] >= (len(entries) - 1) * (room % 3 > 0)


@pytest.mark.parametrize("family", TOKENIZERS)
def test_template_is_that_of_the_tokenizer_itself(family):
    tokenizer = TOKENIZERS[family]()
    entries, _ = pack([["the cat", "sat the"]], tokenizer, max_tokens=60)
    second = "sat the" if family == "bert" else " sat the"
    seen = tokenizer("the cat", second, return_token_type_ids=True)
    assert (entries[0].tokens, entries[0].segments) == (
        tuple(seen.tokens()),
        tuple(seen["token_type_ids"]),
    )


def test_cut_is_at_the_end_of_a_line_drawn_at_random():
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
    assert len(starts) > 5
    assert len(ends) > 5
    assert lengths.most_common(1)[0][0] == (7, 6), "of two equally long sides the second is cut"


def test_draws_depend_on_seed_and_index_and_not_on_what_stands_before():
    """The second sequence is the same whatever the first one holds."""
    text = ["the cat sat", "the dog ran", "the mat"]
    seconds = [pack([first, text])[0][1] for first in (["a b c d"], ["x y", "z z", "a b c d e f"])]
    assert seconds[0].tokens == seconds[1].tokens
    drawn = {pack([text], seed=seed)[0][0].tokens for seed in range(20)}
    assert len(drawn) > 1


def test_end_of_a_document_that_cannot_be_cut_is_counted():
    entries, counts = pack([["the cat sat"], ["the"], ["a b c d"]])
    assert [entry.place for entry in entries] == ["f.txt line 5"]
    assert counts == Counter(too_short=2, truncated=0)


def test_line_of_which_nothing_is_left_is_named():
    assert refused(BadCorpus, pack, [["the cat", "\u200b"]]) == (
        r"f.txt line 2: the tokenizer makes no token of '\u200b'; leave it out"
    )


def test_no_room_for_a_pair_is_refused():
    assert refused(UserError, pack, [["the cat"]], max_tokens=4) == (
        "--max-tokens is 4, but a pair of texts needs at least 5 with this tokenizer's 3 special "
        "token(s)."
    )
