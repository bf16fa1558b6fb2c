from collections import Counter
from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from precompute.corpora.encode import Encoder
from precompute.corpora.load import read_corpus
from precompute.corpora.sequence import NO_WORD, Entry
from precompute.corpora.tokenizing.encoded import encodings
from precompute.corpora.tokenizing.kind import kind_of
from precompute.corpora.tokenizing.words import numbered_through, words_of_spans, words_of_tokens
from tests.precompute.corpora.tiny import (
    BUILT,
    PLACE,
    TOKENIZERS,
    gpt2_like,
    llama_like,
    unhurried,
)
from tests.precompute.corpora.tokenizing.test_fitting import KINDS as FITTING
from tests.precompute.corpora.whole import whole
from tests.tiny import TEXT_FAMILIES, tiny_sequences


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


def test_the_end_of_a_word_may_be_what_is_marked():
    kind = replace(kind_of(BUILT["bert"]), continues="", ends="</w>")
    assert words_of_tokens(["un", "happy</w>", "cat</w>"], kind).tolist() == [0, 0, 1]


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
    "Hindi with joiner": ("क्\u200dष और", "क्\u200dष| और"),
    "Persian": ("می\u200cخواهم کتاب\u200cها؟", "می\u200cخواهم| کتاب\u200cها|؟"),
    "Arabic with vowels": ("كَتَبَ رِسَالَةً.", "كَتَبَ| رِسَالَةً|."),
    "Hebrew with points": ("שָׁלוֹם, (עוֹלָם)", "שָׁלוֹם|,| (|עוֹלָם|)"),
    "Hebrew with marks of direction": ("שלום\u200f, cat", "שלום\u200f|,| cat"),
    "Tamil": ("தமிழ் மொழி", "தமிழ்| மொழி"),
    "Bengali": ("বাংলাদেশ কেন্দ্র", "বাংলাদেশ| কেন্দ্র"),
    "Khmer": ("ខ្មែរ ភាសា", "ខ្មែរ| ភាសា"),
    "Thai": ("ผมรักที่นี่ ครับ", "ผมรักที่นี่| ครับ"),
    "Korean in letters": (
        "\u1112\u1161\u11ab\u1100\u1173\u11af cat",
        "\u1112\u1161\u11ab\u1100\u1173\u11af| cat",
    ),
    "Japanese with marks apart": ("か\u3099き。", "か\u3099き|。"),
    "a variant of a character": ("葛\U000e0100飾。", "葛\U000e0100飾|。"),
    "soft hyphens": ("co\u00adop\u00ader a", "co\u00adop\u00ader| a"),
    "marks apart": ("cafe\u0301s na\u0308ive", "cafe\u0301s| na\u0308ive"),
    "joined pictures": ("a 👩\u200d🚀 cat", "a| 👩\u200d🚀| cat"),
    "tones of skin": ("the 👍🏽 cat", "the| 👍🏽| cat"),
    "flags": ("the 🇩🇪 cat", "the| 🇩🇪| cat"),
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


def _of_whole_texts() -> PreTrainedTokenizerFast:
    tokenizer = gpt2_like()
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(False, use_regex=False)
    return tokenizer


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


def _normalized(family: str, normalizer: normalizers.Normalizer) -> PreTrainedTokenizerFast:
    tokenizer = TOKENIZERS[family]()
    tokenizer.backend_tokenizer.normalizer = normalizer
    return tokenizer


def _with_a_word_added(family: str) -> PreTrainedTokenizerFast:
    tokenizer = TOKENIZERS[family]()
    tokenizer.add_tokens(["at"])
    return tokenizer


KINDS = {
    **BUILT,
    **FITTING,
    "letters with their accents": _normalized(
        "bert", normalizers.BertNormalizer(True, False, False)
    ),
    "ends of words": _with_ends_of_words(),
    "Llama in NFKC": _normalized("llama", normalizers.NFKC()),
    "GPT-2 in NFC": _normalized("gpt2", normalizers.NFC()),
    "GPT-2 in NFKD": _normalized("gpt2", normalizers.NFKD()),
    "Llama without joiners": _normalized("llama", normalizers.Nmt()),
    "whole texts": _of_whole_texts(),
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


@pytest.mark.parametrize(("packing", "max_tokens"), [("blocks", 40), ("sentences", 600)])
@pytest.mark.parametrize("kind", KINDS)
def test_packed_texts_have_the_words_of_the_text(kind, packing, max_tokens, tmp_path):
    """But for tokens at an end, where a cut may leave part of a character."""
    line = " ".join(SCRIPTS).replace("\n", " ").replace("\t", " ")
    path = tmp_path / "plain.txt"
    path.write_text("\n".join([line, line]), encoding="utf-8")
    encoder = Encoder(KINDS[kind], max_tokens=900, positions=900, segment_types=2)
    (text,) = encoder.sequences([Entry(PLACE, (f"{line} {line}",))], counts=Counter())
    pieces, ends = _pieces(text)
    given = {"max_tokens": max_tokens, "packing": packing, "positions": 900, "segment_types": 2}
    read = whole(read_corpus(str(path), KINDS[kind], **given))
    n_found = 0
    for run, ends_of_run in (run for sequence in read.sequences for run in _runs(sequence)):
        places = [n for n in range(len(pieces)) if pieces[n : n + len(run)] == run]
        known = [ends[n : n + len(run) - 1][3:-3] for n in places]
        assert ends_of_run[3:-3] in known or not places, run
        n_found += bool(places)
    assert n_found, "this test shows nothing"


def _pieces(sequence):
    (run,) = _runs(sequence)
    return run


def _runs(sequence):
    """Yield the tokens of each text of a sequence, and `_ends` of its words."""
    of_words = sequence.words != NO_WORD
    for is_text, group in groupby(range(len(sequence)), key=of_words.__getitem__):
        places = list(group)
        if is_text:
            tokens = [sequence.tokens[place] for place in places]
            yield tokens, _ends(sequence.words[places])


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


def test_a_text_in_pieces_has_the_words_of_the_whole_text():
    (encoded,) = encodings(llama_like(), [("catty, é2.", "the cats")])
    assert llama_like().convert_ids_to_tokens(encoded.ids.tolist()) == [
        *("<s>", "▁cat", "t", "y", ",", "▁", "<0xC3>", "<0xA9>", "2", ".", "<s>", "▁the", "▁cat"),
        "s",
    ]
    words = [NO_WORD, 0, 0, 0, 2, 4, 4, 4, 4, 6, NO_WORD, 1, 3, 3]
    assert encoded.words.tolist() == words


def test_two_texts_share_no_word():
    words = numbered_through([None, 0, 0, 1, None, 0, None], [None, 0, 0, 0, None, 1, None])
    assert words.tolist() == [NO_WORD, 0, 0, 2, NO_WORD, 1, NO_WORD]


@pytest.mark.parametrize("family", TEXT_FAMILIES)
def test_tokens_of_a_sequence_stand_for_words_unless_they_frame_it(family):
    for sequence in tiny_sequences(family):
        framing = np.isin(sequence.tokens, ["[CLS]", "[SEP]", "<s>", "</s>"])
        assert ((sequence.words == NO_WORD) == framing).all()
        assert not sequence.masked.any()
