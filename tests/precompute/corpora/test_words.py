"""Words of tokens, by text and by tokens, and tokens of words that are given."""

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from analysis.errors import BadCorpus
from analysis.token_types import CLS, SEP
from precompute.corpora.encode import Encoder
from precompute.corpora.sequence import NO_WORD, ROOT, Annotation, Entry
from precompute.corpora.tokenizing.kind import kind_of, line_pieces, word_pieces
from precompute.corpora.tokenizing.words import words_of_spans, words_of_tokens
from tests.precompute.corpora.test_fitting import KINDS as FITTING
from tests.precompute.corpora.test_fitting import OF_GEMMA
from tests.precompute.corpora.tiny import (
    BUILT,
    PLACE,
    TOKENIZERS,
    bert_like,
    encode,
    gpt2_like,
    llama_like,
    rebuilt,
    unhurried,
)


@pytest.mark.parametrize(
    ("family", "tokens", "words"),
    [
        ("bert", "[CLS] det ##our a .", [0, 1, 1, 2, 3]),
        ("bert", "##our a", [0, 1]),
        ("bert", "Ġa ▁b", [0, 1]),
        ("roberta", "<s> The Ġdet our , Ġa", [0, 1, 2, 2, 3, 4]),
        ("roberta", "a </s> </s> a", [0, 1, 2, 3]),
        ("gpt2", "Ġcaf Ã © Ċ a", [0, 0, 0, 1, 2]),
        ("gpt2", "u n ## h a", [0, 0, 1, 2, 2]),
        ("gpt2", "ä¸ľäº ¬æĺ¯æĹ ¥æľ¬çļĦ ï¼Į ä¹Ł", [0, 0, 0, 1, 2]),
        ("gpt2", "¬æĺ¯ ï¼Į ä¸", [0, 1, 2]),
        ("llama", "<s> ▁The ▁det our , ▁ 1 2", [0, 1, 2, 2, 3, 4, 4, 4]),
        ("llama", "▁caf <0xC3> <0xA9> s . <0x0A> <0x0A> a", [0, 0, 0, 0, 1, 2, 3, 4]),
        ("llama", "c a t , t h e", [0, 0, 0, 1, 2, 2, 2]),
        ("llama", "▁caf <unk> s . <unk>", [0, 0, 0, 1, 2]),
        ("bert", "葛 \U000e0100 a \u200c b # \ufe0f\u20e3 a", [0, 0, 1, 1, 1, 2, 2, 3]),
    ],
)
def test_words_are_told_from_the_kind_of_the_tokenizer(family, tokens, words):
    assert words_of_tokens(tokens.split(), kind_of(BUILT[family])).tolist() == words


SCRIPTS = (
    *(
        "the cat's mat, don't",
        "東京は日本の首都で、猫が好き。",
        "他说这条河很老，红房子很大。",
        "café 12 x3",
    ),
    *("Москва — ran.\n\nthe", "한국어 th dog", "a  b\tc", "e\u0301 ½ \U0001f600!", "?!... the"),
)
MARKED = {  # a text, and its words where a tokenizer tells letters from marks
    "Hindi with vowels below": ("क्षत्रिय लड़की।", "क्षत्रिय| लड़की|।"),
    "Persian": ("می\u200cخواهم کتاب\u200cها؟", "می\u200cخواهم| کتاب\u200cها|؟"),
    "Arabic with vowels": ("كَتَبَ رِسَالَةً.", "كَتَبَ| رِسَالَةً|."),
    "Hebrew with points": ("שָׁלוֹם, (עוֹלָם)", "שָׁלוֹם|,| (|עוֹלָם|)"),
    "Thai": ("ผมรักที่นี่ ครับ", "ผมรักที่นี่| ครับ"),
    "Japanese with marks apart": ("か\u3099き。", "か\u3099き|。"),
    "a variant of a character": ("葛\U000e0100飾。", "葛\U000e0100飾|。"),
    "marks apart": ("cafe\u0301s na\u0308ive", "cafe\u0301s| na\u0308ive"),
    "joined pictures": ("a 👩\u200d🚀 cat", "a| 👩\u200d🚀| cat"),
    "a picture with a variant": ("the ❤\ufe0f cat", "the| ❤\ufe0f| cat"),
    "a key": ("the #\ufe0f\u20e3 cat", "the| #\ufe0f\u20e3| cat"),
}
texts = st.lists(
    st.tuples(
        st.sampled_from(
            [*SCRIPTS, *(text for text, _ in MARKED.values()), *"a1.☃ \u0301\u200d\u200b"]
        ),
        st.sampled_from([" ", "", "\u3000", "\u00a0"]),
    ),
    min_size=1,
    max_size=4,
).map(lambda parts: "a" + "".join(map("".join, parts)))


def _with_ends_of_words() -> PreTrainedTokenizerFast:
    """Tokenizer like that of CLIP: bytes, and `</w>` where a run of letters ends."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = [*alphabet, *(f"{letter}</w>" for letter in alphabet)]
    vocabulary = {piece: n for n, piece in enumerate(pieces)}
    backend = Tokenizer(models.BPE(vocabulary, [], end_of_word_suffix="</w>"))
    letters = Regex(r"\p{L}+|\p{N}|[^\s\p{L}\p{N}]+")
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(letters, "removed", invert=True),
            pre_tokenizers.ByteLevel(False, use_regex=False),
        ]
    )
    return PreTrainedTokenizerFast(tokenizer_object=backend)


def _with_a_word_added(family: str) -> PreTrainedTokenizerFast:
    tokenizer = TOKENIZERS[family]()
    tokenizer.add_tokens(["at"])
    return tokenizer


KINDS = {
    **BUILT,
    **FITTING,
    "letters with their accents": rebuilt(
        bert_like, normalizer=normalizers.BertNormalizer(True, False, False)
    ),
    "ends of words": _with_ends_of_words(),
    "Llama in NFKC": rebuilt(llama_like, normalizer=normalizers.NFKC()),
    "GPT-2 in NFKD": rebuilt(gpt2_like, normalizer=normalizers.NFKD()),
    "Llama without joiners": rebuilt(llama_like, normalizer=normalizers.Nmt()),
    "whole texts": rebuilt(
        gpt2_like, pre_tokenizer=pre_tokenizers.ByteLevel(False, use_regex=False)
    ),
    **{f"{family} with a word more": _with_a_word_added(family) for family in TOKENIZERS},
}


@pytest.mark.parametrize("kind", KINDS)
@unhurried(40)
@given(text=texts)
def test_tokens_of_a_text_have_the_words_of_the_text(kind, text):
    encoder = Encoder(KINDS[kind], positions=900, segment_types=2, max_tokens=900)
    (whole,) = encoder.sequences([Entry(PLACE, (text,))], counts=Counter())
    (tokens,) = encoder.sequences([Entry(PLACE, tokens=whole.tokens)], counts=Counter())
    assert _ends(tokens.words) == _ends(whole.words)
    framing = np.isin(whole.tokens, ["[CLS]", "[SEP]", "<s>", "</s>"])
    assert ((whole.words == NO_WORD) == framing).all()


@pytest.mark.parametrize("text", MARKED)
@pytest.mark.parametrize("kind", ["gpt2", "whole texts", "llama", "like Llama 3", "digits apart"])
def test_no_word_ends_within_a_grapheme_or_at_a_joiner(kind, text):
    text, words = MARKED[text]
    encoder = Encoder(KINDS[kind], positions=900, segment_types=2, max_tokens=900)
    (read,) = encoder.sequences([Entry(PLACE, (text,))], counts=Counter())
    ids: dict[int, list[int]] = {}
    for word, token in zip(read.words.tolist(), read.ids.tolist(), strict=True):
        ids.setdefault(word, []).append(token)
    spelt = [str(KINDS[kind].decode(of_word)).strip() for word, of_word in ids.items() if word >= 0]
    assert spelt == words.replace("| ", "|").split("|")


def _ends(words):
    """For every token but the last, True if a word ends after it."""
    return [word != following for word, following in pairwise(words.tolist())]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the cat's", [0, 0, 0, 1, 1, 1, 1, 2, 3]),
        ("が が。\n 猫", [0, 1, 1, 1, 2, 3, 4, 4]),
        ("▁_ A", [0, 1, 2, 2]),
    ],
)
def test_a_run_of_letters_is_a_word_and_a_space_belongs_to_what_follows(text, words):
    assert words_of_spans(text, range(len(text))) == words


def test_two_texts_share_no_word():
    sequence, _ = encode(Entry(PLACE, ("sa the", "dog")))
    assert sequence.words.tolist() == [NO_WORD, 0, 0, 2, NO_WORD, 1, NO_WORD]


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


SPACES_AT_THE_START: dict[str, dict[str, Any]] = {
    "T5": {"pre_tokenizer": pre_tokenizers.Metaspace(prepend_scheme="always", split=True)},
    "Llama 2": {
        "normalizer": normalizers.Sequence(
            [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        ),
        "pre_tokenizer": None,
    },
    "Gemma": OF_GEMMA,
}
"""As tokenizers in the manner of these make spaces visible."""


@pytest.mark.parametrize("family", TOKENIZERS)
def test_pieces_spell_the_words_with_the_spaces_before_them(family):
    pieces = word_pieces(FORMS, SPACES, BUILT[family], place=PLACE)
    spelt = ["".join(word).replace("##", "") for word in pieces]
    before = {"bert": "", "llama": "▁"}.get(family, "Ġ")
    first = "▁" if family == "llama" else ""  # it begins every text with a space
    words = [form.lower() if family == "bert" else form for form in FORMS]
    assert spelt == [f"{first}{words[0]}", f"{before}{words[1]}", f"{before}{words[2]}", words[3]]


def test_a_word_is_cut_by_itself_and_is_unknown_without_a_piece():
    pieces = word_pieces(("cat", "mat", "\u200b"), (False, True, True), BUILT["bert"], place=PLACE)
    assert pieces == (("cat",), ("mat",), ("[UNK]",))
    assert BUILT["bert"].tokenize("catmat")[1].startswith("##")
    with pytest.raises(BadCorpus, match=r"f line 1.*makes no token of the word ''"):
        word_pieces(("",), (False,), BUILT["gpt2"], place=PLACE)


@pytest.mark.parametrize("model", SPACES_AT_THE_START)
def test_a_word_after_a_letter_has_no_space_whatever_a_tokenizer_puts_before_a_text(model):
    tokenizer = rebuilt(llama_like, **SPACES_AT_THE_START[model])
    words, spaces = ("cat", ",", "a b", "sat"), (False, True, True, True)
    pieces = word_pieces(words, spaces, tokenizer, place=PLACE)
    assert pieces[1:] == ((",",), ("▁", "a", "▁", "b"), ("▁sat",))
    assert word_pieces(words, spaces, tokenizer, place=PLACE, space=True)[0] == ("▁cat",)
    assert pieces[0] == tuple(tokenizer.tokenize("cat"))
    assert line_pieces("cat sat", tokenizer, goes_on=True) == ["▁cat", "▁sat"]
    assert line_pieces("cat sat", tokenizer, goes_on=False) == tokenizer.tokenize("cat sat")


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
    assert not np.isin(sequence.token_types[covered != NO_WORD], (CLS, SEP)).any()
    assert set(sequence.segments.tolist()) == {0}
