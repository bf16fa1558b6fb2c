"""A special token that somebody writes in a text is letters, in every form of a corpus."""

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertJapaneseTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast
from transformers.models.bert_japanese.tokenization_bert_japanese import BasicTokenizer

from analysis.token_types import CLS, SEP
from precompute.corpora.load import read_corpus
from precompute.corpora.sequence import Sequence
from precompute.corpora.tokenizing.kind import frame_tokens
from tests.precompute.corpora.left_out.test_annotated_rows import sentence
from tests.precompute.corpora.tiny import BUILT
from tests.precompute.corpora.tiny_japanese import japanese_like
from tests.precompute.corpora.whole import whole


def _framed(backend: Tokenizer, cls: str, sep: str, unk: str, **more) -> PreTrainedTokenizerFast:
    ids = backend.get_vocab()
    backend.post_processor = processors.BertProcessing((sep, ids[sep]), (cls, ids[cls]))
    names = {"cls_token": cls, "sep_token": sep, "unk_token": unk}
    return PreTrainedTokenizerFast(tokenizer_object=backend, **names, **more)


def unigram_like() -> PreTrainedTokenizerFast:
    """Tokenizer like that of XLM-R: special tokens are its likeliest pieces."""
    special = ("<s>", "</s>", "<unk>", "<mask>")
    letters = (*"▁abcdefghijklmnopqrstuvwxyz<>/[].", "▁the", "▁cat", "▁ran")
    scores = [*((token, 0.0) for token in special), *((letter, -5.0) for letter in letters)]
    backend = Tokenizer(models.Unigram(scores, unk_id=2))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    return _framed(backend, "<s>", "</s>", "<unk>", mask_token="<mask>")


def word_level_like() -> PreTrainedTokenizerFast:
    """Tokenizer whose tokens are separated by spaces."""
    words = ("[CLS]", "[SEP]", "[UNK]", "[MASK]", "[PAD]", "the", "cat", "ran")
    backend = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, "[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    more = {"mask_token": "[MASK]", "pad_token": "[PAD]"}
    return _framed(backend, "[CLS]", "[SEP]", "[UNK]", **more)


def japanese_by_marks() -> BertJapaneseTokenizer:
    """Tokenizer that splits at spaces and marks, except for words never to be split."""
    tokenizer = japanese_like()
    tokenizer.word_tokenizer = BasicTokenizer()
    return tokenizer


ALL: dict[str, PreTrainedTokenizerBase] = {
    **BUILT,
    "unigram": unigram_like(),
    "word_level": word_level_like(),
    "japanese": japanese_like(),
    "japanese_by_marks": japanese_by_marks(),
}


def read(
    path: Path,
    tokenizer: PreTrainedTokenizerBase,
    *,
    packing: str = "paragraphs",
    max_tokens: int = 512,
) -> tuple[Sequence, ...]:
    reading = read_corpus(
        str(path),
        tokenizer,
        positions=512,
        segment_types=2,
        max_tokens=max_tokens,
        packing=packing,
    )
    return whole(reading).sequences


@pytest.fixture(params=ALL)
def tokenizer(request) -> PreTrainedTokenizerBase:
    return ALL[request.param]


def assert_no_special_token_within(sequence: Sequence, tokenizer: PreTrainedTokenizerBase) -> None:
    """All special tokens are those of an empty frame, at the ends and between two texts."""
    special = frame_tokens(tokenizer)
    n_frames = tokenizer.num_special_tokens_to_add(pair="\n" in sequence.text)
    assert sum(token in special for token in sequence.tokens) == n_frames
    assert not sequence.masked.any()
    inside = sequence.tokens[1:-1]
    assert all(token not in special for token in inside) or "\n" in sequence.text


FORMS = {
    "a text": ("jsonl", lambda word: json.dumps({"text": f"the {word} cat"})),
    "a pair": (
        "jsonl",
        lambda word: json.dumps({"text_a": f"the {word}", "text_b": f"{word} cat"}),
    ),
    "plain text": ("txt", lambda word: f"the {word} cat"),
    "a treebank": ("conllu", lambda word: sentence(2, 0, 2, forms=("the", word, "cat"))),
    "its first word": ("conllu", lambda word: sentence(2, 0, forms=(word, "cat"))),
    "columns": ("conll", lambda word: f"#begin document d\nthe (1)\n{word} (1)\n#end document"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_special_token_as_a_word_is_its_letters(tmp_path, tokenizer, form):
    suffix, written = FORMS[form]
    for word in sorted(frame_tokens(tokenizer)):
        path = tmp_path / f"a.{suffix}"
        path.write_text(written(word), encoding="utf-8")
        (sequence,) = read(path, tokenizer)
        assert_no_special_token_within(sequence, tokenizer)
        if sequence.annotation is not None:
            assert word in sequence.annotation.forms
            spans = sequence.word_spans
            assert spans is not None
            types = [sequence.token_types[start:end] for start, end in spans]
            assert all(kind not in (CLS, SEP) for of_word in types for kind in of_word)


@pytest.mark.parametrize("packing", ["sentences", "blocks"])
def test_so_it_is_in_texts_that_are_packed(tmp_path, tokenizer, packing):
    path = tmp_path / "a.txt"
    words = sorted(frame_tokens(tokenizer))
    path.write_text("\n".join([f"the {words[0]} cat ran", f"{words[-1]} ran the cat"] * 3))
    for sequence in read(path, tokenizer, packing=packing, max_tokens=24):
        special = [token in frame_tokens(tokenizer) for token in sequence.tokens]
        is_pair = packing == "sentences"
        assert sum(special) == tokenizer.num_special_tokens_to_add(pair=is_pair)


def test_the_letters_are_those_that_the_tokenizer_makes_of_them(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "the </s> cat"}')
    assert read(path, ALL["unigram"])[0].tokens == (
        *("<s>", "▁the", "▁", "<", "/", "s", ">", "▁cat", "</s>"),
    )
    assert len({*read(path, ALL["unigram"])[0].words[2:7].tolist()}) == 4  # as any text
    path.write_text('{"text": "the [SEP] cat"}')
    assert read(path, ALL["word_level"])[0].tokens == (
        *("[CLS]", "the", "[UNK]", "[UNK]", "cat", "[SEP]"),
    )
    assert len({*read(path, ALL["word_level"])[0].words[2:4].tolist()}) == 1
