"""A special token that somebody writes in a text is letters, in every form of a corpus."""

import json
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertJapaneseTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast
from transformers.models.bert_japanese.tokenization_bert_japanese import BasicTokenizer

from analysis.token_types import CLS, SEP
from precompute.corpora.load import read_corpus
from precompute.corpora.sequence import Sequence
from precompute.corpora.tokenizing.kind import frame_tokens
from tests.precompute.corpora.annotated.test_left_out import sentence
from tests.precompute.corpora.reading import written
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


def read(path: str, tokenizer: PreTrainedTokenizerBase, **options: Any) -> tuple[Sequence, ...]:
    settings: dict[str, Any] = {"positions": 512, "segment_types": 2, "max_tokens": 512} | options
    return whole(read_corpus(path, tokenizer, **settings)).sequences


@pytest.fixture(params=ALL)
def tokenizer(request) -> PreTrainedTokenizerBase:
    return ALL[request.param]


FORMS = {
    "a text": lambda word: json.dumps({"text": f"the {word} cat"}),
    "a pair": lambda word: json.dumps({"text_a": f"the {word}", "text_b": f"{word} cat"}),
    "plain text": lambda word: f"the {word} cat",
    "a treebank": lambda word: sentence(2, 0, 2, forms=("the", word, "cat")),
    "its first word": lambda word: sentence(2, 0, forms=(word, "cat")),
    "columns": lambda word: f"#begin document d\nthe (1)\n{word} (1)\n#end document",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_special_token_as_a_word_is_its_letters(tmp_path, tokenizer, form):
    """All special tokens are those of an empty frame, at the ends and between two texts."""
    special = frame_tokens(tokenizer)
    for word in sorted(special):
        (sequence,) = read(written(tmp_path, FORMS[form](word)), tokenizer)
        n_frames = tokenizer.num_special_tokens_to_add(pair=form == "a pair")
        assert sum(token in special for token in sequence.tokens) == n_frames
        assert form == "a pair" or special.isdisjoint(sequence.tokens[1:-1])
        assert not sequence.masked.any()
        if sequence.annotation is not None:
            assert word in sequence.annotation.forms
            assert sequence.word_spans is not None
            types = [sequence.token_types[start:end] for start, end in sequence.word_spans]
            assert not np.isin(np.concatenate(types), (CLS, SEP)).any()


@pytest.mark.parametrize("packing", ["sentences", "blocks"])
def test_a_special_token_in_a_packed_text_is_its_letters(tmp_path, tokenizer, packing):
    words = sorted(frame_tokens(tokenizer))
    path = written(tmp_path, f"the {words[0]} cat ran\n{words[-1]} ran the cat\n" * 3)
    for sequence in read(path, tokenizer, packing=packing, max_tokens=24):
        special = [token in frame_tokens(tokenizer) for token in sequence.tokens]
        is_pair = packing == "sentences"
        assert sum(special) == tokenizer.num_special_tokens_to_add(pair=is_pair)
