"""Words and tokens: how far texts are read, what is a word, and words that look special."""

import json
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from analysis.errors import BadCorpus
from precompute.corpora.encode import Encoder
from precompute.corpora.load import read_corpus
from precompute.corpora.sequence import NO_WORD, Annotation, Entry, Sequence
from precompute.corpora.tokenizing import encoded
from precompute.corpora.tokenizing.encoded import fitted, in_batches
from precompute.corpora.tokenizing.kind import (
    frame_tokens,
    kind_of,
    line_pieces,
    word_pieces,
    words_of_japanese,
    words_of_tokens,
)
from tests.precompute.corpora.annotated.test_annotated import sentence
from tests.precompute.corpora.reading import written
from tests.precompute.corpora.tiny import (
    BUILT,
    PLACE,
    TOKENIZERS,
    bert_like,
    digits_apart,
    encode,
    gpt2_like,
    japanese_like,
    llama_like,
    rebuilt,
    unhurried,
    whole,
)


def unigram_like() -> PreTrainedTokenizerFast:
    """Tokenizer like that of XLM-R: special tokens are its likeliest pieces."""
    special = ("<s>", "</s>", "<unk>", "<mask>")
    pieces = (*"▁abcdefghijklmnopqrstuvwxyz<>/[].。", "▁the", "▁cat", "▁ran", "th", "at", "▁▁")
    scored = [(piece, float(n) - len(pieces)) for n, piece in enumerate(pieces)]
    tokenizer = Tokenizer(models.Unigram([*((s, 0.0) for s in special), *scored], unk_id=2))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.BertProcessing(("</s>", 1), ("<s>", 0))
    names = dict(zip(("cls_token", "sep_token", "unk_token", "mask_token"), special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


OF_GEMMA: dict[str, Any] = {
    "normalizer": normalizers.Replace(" ", "▁"),
    "pre_tokenizer": pre_tokenizers.Split(" ", "merged_with_previous"),
}
LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
KINDS: dict[str, PreTrainedTokenizerFast] = {
    **{family: build() for family, build in TOKENIZERS.items()},
    "digits apart": digits_apart(),
    "unigram": unigram_like(),
    "like Llama 3": rebuilt(
        gpt2_like,
        pre_tokenizer=pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(LLAMA_3), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        ),
    ),
    "like Gemma": rebuilt(llama_like, **OF_GEMMA),
}
REACHING_ON: dict[str, PreTrainedTokenizerFast] = {
    "an unknown expression": rebuilt(
        gpt2_like, pre_tokenizer=pre_tokenizers.Split(Regex("t c"), "removed")
    ),
    "an added token across words": bert_like(),
}
REACHING_ON["an added token across words"].add_tokens(["t c"])
LONG = {
    "many words": "the cat sat, zz 12 日本。語 it's e\u0301 t cat \n  [SEP] " * 400,
    "words that WordPiece does not take apart, the last cut where it would": f"{'a' * 119} " * 19
    + "a" * 20_000,
    "nothing at first": "\u200b" * 5000 + "a " + "the cat " * 500,
}


@pytest.mark.parametrize("kind", {**KINDS, **REACHING_ON})
@pytest.mark.parametrize("text", LONG)
def test_the_tokens_of_a_beginning_are_those_of_the_whole_text(kind, text, monkeypatch):
    tokenizer = {**KINDS, **REACHING_ON}[kind]
    batches = [[(LONG[text],)], [(LONG[text], "the cat sat " * 900)]]
    read = [fitted(tokenizer, batch, max_tokens=22)[0] for batch in batches]
    monkeypatch.setattr(encoded, "_CHARACTERS", 10**6)
    whole = [fitted(tokenizer, batch, max_tokens=22)[0] for batch in batches]
    for some, all_of_it in zip(read, whole, strict=True):
        assert (some.is_cut, some.encoded.sides) == (all_of_it.is_cut, all_of_it.encoded.sides)
        assert some.encoded.ids.tolist() == all_of_it.encoded.ids.tolist()
        assert some.encoded.words.tolist() == all_of_it.encoded.words.tolist()
    if text == "many words":
        assert len(read[0].texts[0]) <= 8 * (22 + 128) < len(LONG[text]) / 5


def test_entries_read_together_are_those_read_alone():
    encoder = Encoder(bert_like(), positions=9, segment_types=2, max_tokens=5)
    entries = [Entry(f"f line {n}", ("cat",)) for n in range(300)]
    entries += [Entry("f", ("the", "cat")), Entry("f", tokens=("[CLS]", "the", "[SEP]"))]
    entries += [Entry("f", ("the cat sat the cat",))]
    counts, alone = Counter(), Counter()
    together = list(encoder.sequences(entries, counts=counts, first=7))
    singly = [next(encoder.sequences([entry], counts=alone)) for entry in entries]
    assert [sequence.index for sequence in together] == list(range(7, 7 + len(entries)))
    found, expected = ([(s.tokens, s.text, s.place) for s in read] for read in (together, singly))
    assert found == expected
    assert [len(batch) for batch in in_batches(entries)] == [256, 44, 1, 1, 1]
    assert [len(batch) for batch in in_batches([Entry("f", ("cat " * 2**17,))] * 5)] == [2, 2, 1]
    assert counts == alone == Counter(truncated=1)


@pytest.mark.parametrize(
    ("family", "tokens", "words"),
    [
        ("bert", "[CLS] det ##our a .", [0, 1, 1, 2, 3]),
        ("roberta", "<s> The Ġdet our , Ġa", [0, 1, 2, 2, 3, 4]),
        ("gpt2", "Ġcaf Ã © Ċ a", [0, 0, 0, 1, 2]),
        ("gpt2", "ä¸ľäº ¬æĺ¯æĹ ¥æľ¬çļĦ ï¼Į ä¹Ł", [0, 0, 0, 1, 2]),
        ("llama", "<s> ▁The ▁det our , ▁ 1 2", [0, 1, 2, 2, 3, 4, 4, 4]),
        ("llama", "▁caf <0xC3> <0xA9> s . <0x0A> <0x0A> a", [0, 0, 0, 0, 1, 2, 3, 4]),
        ("bert", "葛 \U000e0100 a \u200c b # \ufe0f\u20e3 a", [0, 0, 1, 1, 1, 2, 2, 3]),
    ],
)
def test_words_are_told_from_the_kind_of_the_tokenizer(family, tokens, words):
    assert words_of_tokens(tokens.split(), kind_of(BUILT[family])).tolist() == words


SCRIPTS = [
    *("the cat's mat, don't", "東京は日本の首都で、猫が好き。", "café 12 x3", "한국어 th dog"),
    *("Москва — ran.\n\nthe", "a  b\tc", "e\u0301 ½ \U0001f600!", "?!... the"),
]
MARKED = {  # a text, and its words where a tokenizer tells letters from marks
    "Hindi with vowels below": ("क्षत्रिय लड़की।", "क्षत्रिय| लड़की|।"),
    "Arabic with vowels": ("كَتَبَ رِسَالَةً.", "كَتَبَ| رِسَالَةً|."),
    "Japanese with marks apart": ("か\u3099き。", "か\u3099き|。"),
    "a picture with a variant": ("the ❤\ufe0f cat", "the| ❤\ufe0f| cat"),
}
scripts = st.lists(
    st.tuples(
        st.sampled_from([*SCRIPTS, *(text for text, _ in MARKED.values()), *"a1.☃ \u0301\u200b"]),
        st.sampled_from([" ", "", "\u3000", "\u00a0"]),
    ),
    min_size=1,
    max_size=4,
).map(lambda parts: "a" + "".join(map("".join, parts)))


IN_BYTES = pre_tokenizers.ByteLevel(False, use_regex=False)
EVERY_KIND = KINDS | {"whole texts": rebuilt(gpt2_like, pre_tokenizer=IN_BYTES)}


@pytest.mark.parametrize("kind", EVERY_KIND)
@unhurried(40)
@given(text=scripts)
def test_tokens_of_a_text_have_the_words_of_the_text(kind, text):
    encoder = Encoder(EVERY_KIND[kind], positions=900, segment_types=2, max_tokens=900)
    (whole,) = encoder.sequences([Entry(PLACE, (text,))], counts=Counter())
    (tokens,) = encoder.sequences([Entry(PLACE, tokens=whole.tokens)], counts=Counter())
    ends, of_whole = (
        [word != following for word, following in pairwise(read.words.tolist())]
        for read in (tokens, whole)
    )
    assert ends == of_whole
    framing = np.isin(whole.tokens, ["[CLS]", "[SEP]", "<s>", "</s>"])
    assert ((whole.words == NO_WORD) == framing).all()


@pytest.mark.parametrize("text", MARKED)
@pytest.mark.parametrize("kind", ["whole texts", "llama", "like Llama 3"])
def test_no_word_ends_within_a_grapheme_or_at_a_joiner(kind, text):
    text, words = MARKED[text]
    encoder = Encoder(EVERY_KIND[kind], positions=900, segment_types=2, max_tokens=900)
    (read,) = encoder.sequences([Entry(PLACE, (text,))], counts=Counter())
    ids: dict[int, list[int]] = {}
    for word, token in zip(read.words.tolist(), read.ids.tolist(), strict=True):
        ids.setdefault(word, []).append(token)
    spelt = [
        str(EVERY_KIND[kind].decode(of_word)).strip() for word, of_word in ids.items() if word >= 0
    ]
    assert spelt == words.replace("| ", "|").split("|")


def test_two_texts_share_no_word():
    sequence, _ = encode(Entry(PLACE, ("sa the", "dog")))
    assert sequence.words.tolist() == [NO_WORD, 0, 0, 2, NO_WORD, 1, NO_WORD]


FORMS, SPACES = ("The", "catmat", "sat", "."), (True, True, False, True)
OF_T5 = {"pre_tokenizer": pre_tokenizers.Metaspace(prepend_scheme="always", split=True)}


def test_a_word_is_cut_by_itself_and_is_unknown_without_a_piece():
    pieces = word_pieces(("cat", "mat", "\u200b"), (False, True, True), BUILT["bert"], place=PLACE)
    assert pieces == (("cat",), ("mat",), ("[UNK]",))
    with pytest.raises(BadCorpus, match=r"f line 1.*makes no token of the word ''"):
        word_pieces(("",), (False,), BUILT["gpt2"], place=PLACE)


@pytest.mark.parametrize("parts", [OF_T5, OF_GEMMA], ids=["T5", "Gemma"])
def test_a_word_after_a_letter_has_no_space_whatever_a_tokenizer_puts_before_a_text(parts):
    tokenizer = rebuilt(llama_like, **parts)
    words, spaces = ("cat", ",", "a b", "sat"), (False, True, True, True)
    pieces = word_pieces(words, spaces, tokenizer, place=PLACE)
    assert pieces[1:] == ((",",), ("▁", "a", "▁", "b"), ("▁sat",))
    assert word_pieces(words, spaces, tokenizer, place=PLACE, space=True)[0] == ("▁cat",)
    assert pieces[0] == tuple(tokenizer.tokenize("cat"))
    assert line_pieces("cat sat", tokenizer, goes_on=True) == ["▁cat", "▁sat"]
    assert line_pieces("cat sat", tokenizer, goes_on=False) == tokenizer.tokenize("cat sat")


@pytest.mark.parametrize("family", TOKENIZERS)
def test_spans_cover_every_token_but_the_special_ones(family):
    known = Annotation(FORMS, SPACES, (0,) * 4, None, None, ("",) * 4, ("",) * 4)
    sequence, lost = encode(Entry(PLACE, annotation=known), family)
    assert (lost, sequence.text) == (0, "The catmat sat.")
    assert sequence.word_spans is not None
    covered = np.full(len(sequence), NO_WORD)
    for word, (start, end) in enumerate(sequence.word_spans):
        assert start < end
        covered[start:end] = word
    special = {"bert": 2, "roberta": 2, "gpt2": 0, "llama": 1}[family]
    assert (covered == NO_WORD).sum() == special
    assert covered.tolist() == sequence.words.tolist()


LITERAL: dict[str, PreTrainedTokenizerBase] = {
    **BUILT,
    "unigram": unigram_like(),
    "japanese": japanese_like(),
}


def sequences_of(
    path: str, tokenizer: PreTrainedTokenizerBase, **options: Any
) -> tuple[Sequence, ...]:
    settings: dict[str, Any] = {"positions": 512, "segment_types": 2, "max_tokens": 512} | options
    return whole(read_corpus(path, tokenizer, **settings)).sequences


@pytest.fixture(params=LITERAL)
def tokenizer(request) -> PreTrainedTokenizerBase:
    return LITERAL[request.param]


WRITTEN = {
    "a text": lambda word: json.dumps({"text": f"the {word} cat"}),
    "a treebank": lambda word: sentence(2, 0, 2, forms=("the", word, "cat")),
    "columns": lambda word: f"#begin document d\nthe (1)\n{word} (1)\n#end document",
}


@pytest.mark.parametrize("form", WRITTEN)
def test_a_special_token_as_a_word_is_its_letters(tmp_path, tokenizer, form):
    """All special tokens are those of an empty frame, at the ends and between two texts."""
    special = frame_tokens(tokenizer)
    for word in sorted(special):
        (sequence,) = sequences_of(written(tmp_path, WRITTEN[form](word)), tokenizer)
        n_frames = tokenizer.num_special_tokens_to_add(pair=False)
        assert sum(token in special for token in sequence.tokens) == n_frames
        assert special.isdisjoint(sequence.tokens[1:-1])
        assert not sequence.masked.any()
        assert sequence.annotation is None or word in sequence.annotation.forms


@pytest.mark.parametrize("packing", ["sentences", "blocks"])
def test_a_special_token_in_a_packed_text_is_its_letters(tmp_path, tokenizer, packing):
    words = sorted(frame_tokens(tokenizer))
    path = written(tmp_path, f"the {words[0]} cat ran\n{words[-1]} ran the cat\n" * 3)
    for sequence in sequences_of(path, tokenizer, packing=packing, max_tokens=24):
        special = [token in frame_tokens(tokenizer) for token in sequence.tokens]
        is_pair = packing == "sentences"
        assert sum(special) == tokenizer.num_special_tokens_to_add(pair=is_pair)


OF_MECAB = japanese_like()
japanese = st.text("猫犬がは。、国際連合東京か\u3099 　1２ab[]\n", max_size=20)


def encode_japanese(entry):
    encoder = Encoder(OF_MECAB, positions=64, segment_types=2, max_tokens=64)
    (sequence,) = encoder.sequences([entry], counts=Counter())
    return sequence


@pytest.mark.parametrize("subwords", ["wordpiece", "character"])
@unhurried(60)
@given(parts=st.lists(japanese | st.sampled_from(["[MASK]", "[SEP]"]), max_size=4))
def test_the_words_in_order_are_what_the_tokenizer_itself_makes(subwords, parts):
    tokenizer, text = japanese_like(subwords), "".join(parts)
    words = words_of_japanese(text, tokenizer)
    made = tokenizer.tokenize(text, split_special_tokens=True)
    assert [piece for word in words for piece in word] == made
    assert all(words)


@unhurried(40)
@given(first=japanese, second=japanese)
def test_ids_and_segments_are_those_of_the_tokenizer_itself(first, second):
    if not (OF_MECAB.tokenize(first) and OF_MECAB.tokenize(second)):
        return
    for given_texts in ((first,), (first, second)):
        sequence = encode_japanese(Entry(PLACE, given_texts))
        seen = OF_MECAB(*given_texts, return_token_type_ids=True)
        assert sequence.ids.tolist() == seen["input_ids"]
        assert sequence.segments.tolist() == seen["token_type_ids"]


TOLD = "[CLS] 吾 ##輩 は Tokyo a ##b 1 駅 [SEP] 猫 [SEP]"
OF_JAPANESE = {
    "pieces of one word share it and those of two do not": (
        Entry(PLACE, ("吾輩は猫。国際連合が鳴く",)),
        "[CLS] 吾 ##輩 は 猫 。 国 ##際 連 ##合 が 鳴く [SEP]",
        [-1, 0, 0, 1, 2, 3, 4, 4, 5, 5, 6, 7, -1],
        "吾輩は猫。国際連合が鳴く",
    ),
    "tokens are told without spaces but between Latin words": (
        Entry(PLACE, tokens=tuple(TOLD.split())),
        TOLD,
        [-1, 0, 0, 1, 2, 3, 3, 4, 5, -1, 6, -1],
        "吾輩はTokyo ab 1駅\n猫",
    ),
}


@pytest.mark.parametrize("case", OF_JAPANESE)
def test_an_entry_has_tokens_words_and_a_text(case):
    entry, tokens, words, text = OF_JAPANESE[case]
    sequence = encode_japanese(entry)
    assert " ".join(sequence.tokens) == tokens
    numbers = dict.fromkeys(word for word in sequence.words.tolist() if word != NO_WORD)
    order = {word: place for place, word in enumerate(numbers)} | {NO_WORD: NO_WORD}
    assert [order[word] for word in sequence.words.tolist()] == words
    assert sequence.text == text
