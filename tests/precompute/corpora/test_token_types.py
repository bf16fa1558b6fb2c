import numpy as np
import pytest
from tokenizers.processors import TemplateProcessing

from analysis.token_types import TOKEN_TYPES
from precompute.corpora.token_types import TokenTypes
from tests.precompute.corpora.tiny import BUILT, bert_like, llama_like, roberta_like


def types_of(tokens, tokenizer):
    ids = np.array(tokenizer.convert_tokens_to_ids(list(tokens)), dtype=np.int32)
    return [TOKEN_TYPES[kind] for kind in TokenTypes(tokenizer)(ids)]


@pytest.mark.parametrize(
    ("family", "kind", "tokens"),
    [
        ("bert", "cls", ["[CLS]"]),
        ("bert", "sep", ["[SEP]"]),
        ("bert", "comma_period", [",", "."]),
        ("bert", "other", ["##.", "##,", ";", "the", "[MASK]", "[UNK]", "[PAD]"]),
        ("roberta", "cls", ["<s>"]),
        ("roberta", "sep", ["</s>"]),
        ("roberta", "comma_period", [",", "Ġ,", "Ġ.", "."]),
        ("roberta", "other", ["Ġ", "th", "<mask>", "<unk>", "<pad>"]),
        ("gpt2", "comma_period", [",", "Ġ."]),
        ("gpt2", "other", ["<|end|>", "th"]),
        ("llama", "bos", ["<s>"]),
        ("llama", "comma_period", [",", "▁,", "▁."]),
        ("llama", "other", ["</s>", "<unk>", "▁", "▁the", "<0x2C>", ";"]),
    ],
)
def test_each_token_is_of_one_type(family, kind, tokens):
    assert set(types_of(tokens, BUILT[family])) == {kind}


def test_a_beginning_that_no_text_gets_is_of_no_type_of_its_own():
    tokenizer = llama_like()
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="$A", special_tokens=[])
    assert types_of(["<s>"], tokenizer) == ["other"]


def test_an_end_that_every_text_gets_is_a_separator_as_in_t5():
    tokenizer = llama_like()
    assert types_of(["</s>"], tokenizer) == ["other"]
    end = ("</s>", tokenizer.convert_tokens_to_ids("</s>"))
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="$A </s>", special_tokens=[end]
    )
    assert types_of(["</s>", "<s>"], tokenizer) == ["sep", "other"]


def test_a_beginning_that_is_the_class_token_is_cls():
    tokenizer = roberta_like()
    tokenizer.bos_token = "<s>"
    assert types_of(["<s>"], tokenizer) == ["cls"]


def test_one_token_for_both_ends_is_neither_cls_nor_sep():
    tokenizer = roberta_like()
    tokenizer.sep_token = tokenizer.cls_token
    assert types_of(["<s>", ",", "</s>"], tokenizer) == ["other", "comma_period", "other"]


def test_sentence_pieces_and_word_ends_are_looked_through():
    tokenizer = bert_like()
    tokenizer.add_tokens(["▁,", "▁.", ".</w>", "▁a"])
    assert types_of(["▁,", "▁.", ".</w>", "▁a"], tokenizer) == ["comma_period"] * 3 + ["other"]


def test_commas_and_periods_of_japanese_are_such_however_they_are_written():
    tokenizer = bert_like()
    tokens = ["、", "。", "，", "．", "ãĢģ", "Ġï¼Į", "・", "「"]
    tokenizer.add_tokens(tokens)
    assert types_of(tokens, tokenizer) == ["comma_period"] * 6 + ["other"] * 2


def test_either_end_may_be_missing():
    tokenizer = bert_like()
    tokenizer.cls_token = None
    assert types_of(["[CLS]", "[SEP]"], tokenizer) == ["other", "sep"]
