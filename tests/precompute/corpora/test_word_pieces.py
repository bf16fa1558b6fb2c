"""Pre-split words, as tokens of every kind of tokenizer."""

import numpy as np
import pytest
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from analysis.errors import BadCorpus
from analysis.token_types import CLS, SEP
from precompute.corpora.sequence import NO_WORD, ROOT, Annotation, Entry
from precompute.corpora.tokenizing.kind import line_pieces, word_pieces
from tests.precompute.corpora.tiny import BUILT, PLACE, TOKENIZERS, encode, llama_like

FORMS = ("The", "catmat", "sat", ".")
SPACES = (True, True, False, True)
KNOWN = Annotation(
    forms=FORMS,
    spaces=SPACES,
    sentences=(0,) * 4,
    governors=(1, 2, ROOT, 2),
    relations=("det", "nsubj", "root", "punct"),
    parts_of_speech=("DET", "NOUN", "VERB", "PUNCT"),
    features=("",) * 4,
)


def _metaspace(backend: Tokenizer) -> None:
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)


def _normalised(backend: Tokenizer) -> None:
    backend.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    backend.pre_tokenizer = None


def _nothing_before(backend: Tokenizer) -> None:
    backend.normalizer = normalizers.Replace(" ", "▁")
    backend.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")


SPACES_AT_THE_START = (_metaspace, _normalised, _nothing_before)
"""As tokenizers in the manner of T5, of Llama 2 and of Gemma make spaces visible."""


@pytest.mark.parametrize("family", TOKENIZERS)
def test_pieces_spell_the_words_with_the_spaces_before_them(family):
    pieces = word_pieces(FORMS, SPACES, BUILT[family], place=PLACE)
    spelt = ["".join(word).replace("##", "") for word in pieces]
    before = {"bert": "", "llama": "▁"}.get(family, "Ġ")
    first = "▁" if family == "llama" else ""  # it begins every text with a space
    words = [form.lower() if family == "bert" else form for form in FORMS]
    assert spelt == [f"{first}{words[0]}", f"{before}{words[1]}", f"{before}{words[2]}", words[3]]


def test_a_word_is_cut_by_itself_and_not_with_its_neighbour():
    assert word_pieces(("cat", "mat"), (False, True), BUILT["bert"], place=PLACE) == (
        ("cat",),
        ("mat",),
    )
    joined = BUILT["bert"].tokenize("catmat")
    assert joined[0] == "cat"
    assert joined[1].startswith("##")


@pytest.mark.parametrize("prepares", SPACES_AT_THE_START)
def test_a_word_after_a_letter_has_no_space_whatever_a_tokenizer_puts_before_a_text(prepares):
    tokenizer = llama_like()
    prepares(tokenizer.backend_tokenizer)
    words, spaces = ("cat", ",", "a b", "sat"), (False, True, True, True)
    pieces = word_pieces(words, spaces, tokenizer, place=PLACE)
    assert pieces[1:] == ((",",), ("▁", "a", "▁", "b"), ("▁sat",))
    assert word_pieces(words, spaces, tokenizer, place=PLACE, space=True)[0] == ("▁cat",)
    assert pieces[0] == tuple(tokenizer.tokenize("cat"))
    assert line_pieces("cat sat", tokenizer, goes_on=True) == ["▁cat", "▁sat"]
    assert line_pieces("cat sat", tokenizer, goes_on=False) == tokenizer.tokenize("cat sat")


def test_a_word_of_which_nothing_is_made_is_unknown():
    assert word_pieces(("cat", "\u200b"), (True, True), BUILT["bert"], place=PLACE)[1] == ("[UNK]",)
    with pytest.raises(BadCorpus, match=r"f line 1.*makes no token of the word ''"):
        word_pieces(("",), (False,), BUILT["gpt2"], place=PLACE)


@pytest.mark.parametrize("family", TOKENIZERS)
def test_spans_cover_every_token_but_the_special_ones(family):
    sequence, lost = encode(Entry(PLACE, annotation=KNOWN), family)
    assert lost == 0
    assert sequence.annotation is KNOWN
    assert sequence.text == "The catmat sat."
    assert sequence.word_spans is not None
    covered = np.full(len(sequence), NO_WORD)
    for word, (start, end) in enumerate(sequence.word_spans):
        assert start < end
        covered[start:end] = word
    special = {"bert": 2, "roberta": 2, "gpt2": 0, "llama": 1}[family]
    assert (covered == NO_WORD).sum() == special
    assert covered.tolist() == sequence.words.tolist()
    assert set(sequence.segments.tolist()) == {0}


def test_special_tokens_frame_the_words():
    sequence, _ = encode(Entry(PLACE, annotation=KNOWN))
    assert sequence.token_types[0] == CLS
    assert sequence.token_types[-1] == SEP
    assert sequence.tokens == ("[CLS]", "the", "cat", "##m", "##a", "##t", "sat", ".", "[SEP]")
    assert sequence.word_spans is not None
    assert sequence.word_spans.tolist() == [[1, 2], [2, 6], [6, 7], [7, 8]]
