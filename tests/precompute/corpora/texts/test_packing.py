"""Plain text in pairs, packed sentences and blocks: nothing is lost that is not counted."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadCorpus
from precompute.corpora.source import Line
from precompute.corpora.texts.packing import blocks, packed, paired
from tests.precompute.corpora.tiny import BUILT, FRAMES, SEGMENT_TYPES, TOKENIZERS, unhurried
from tests.refusals import refused

BERT = BUILT["bert"]
ROOM = {"bert": 13, "roberta": 12, "gpt2": 16, "llama": 14}
"""Of 16, by the special tokens of a pair."""

lines = st.lists(st.sampled_from(["the", "cat", "sat,", "zz.", "x"]), min_size=1, max_size=9)
document = st.lists(lines.map(" ".join), min_size=1, max_size=8)
documents = st.lists(document, min_size=1, max_size=4)


def numbered(texts):
    """Lines of the documents in a file, with a blank line after each document."""
    number, groups = 0, []
    for paragraphs in texts:
        named = enumerate(paragraphs, start=number + 1)
        groups.append([Line("f.txt", n, text) for n, text in named])
        number += len(paragraphs) + 1
    return groups


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
    assert counts["unpaired"] == sum(len(entry.texts) == 1 for entry in entries)
    assert counts["unpaired"] == sum(len(paragraphs) % 2 for paragraphs in texts)


def test_blocks_are_placed_by_their_first_and_last_line():
    texts = numbered([["the cat"], ["the the the the the the", "cat"]])
    cuts = list(blocks(texts, BERT, max_tokens=8, counts=Counter()))
    assert [block.place for block in cuts] == ["f.txt lines 1-3"]


@unhurried(50)
@given(texts=documents, seed=st.integers(0, 9))
def test_packed_sides_are_neighbouring_spans_of_one_document(texts, seed):
    entries, _ = pack(texts, seed=seed)
    assert len(entries) >= sum(len(BERT.tokenize(" ".join(paragraphs))) > 3 for paragraphs in texts)
    wholes = [tuple(BERT.tokenize(" ".join(paragraphs))) for paragraphs in texts]
    for entry in entries:
        first, second = sides(entry)
        assert min(len(first), len(second)) >= 2
        assert len(entry.tokens) <= 16
        assert any(is_part(first, whole) and is_part(second, whole) for whole in wholes)


@unhurried(50)
@given(texts=documents, seed=st.integers(0, 9))
def test_no_piece_is_lost_unless_it_is_counted(texts, seed):
    """Lines too short to overfill a sequence: what is read is what is packed or counted."""
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


def test_a_line_without_a_piece_is_refused():
    nothing = r"f.txt line 2: the tokenizer makes no token of '\u200b'; leave it out"
    texts = [["the cat", "\u200b"]]
    assert refused(BadCorpus, pack, texts) == nothing
    cut = blocks(numbered(texts), BERT, max_tokens=8, counts=Counter())
    assert refused(BadCorpus, list, cut) == nothing


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
