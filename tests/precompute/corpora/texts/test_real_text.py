from functools import cache

import numpy as np
import pytest
from transformers import BertTokenizer, RobertaTokenizer

from analysis.token_types import COMMA_PERIOD
from precompute.corpora.load import entries
from precompute.corpora.token_types import TokenTypes
from tests.precompute.corpora.tiny import shared_data


@cache
def real(family):
    folder = shared_data() / "tokenizers"
    if family == "bert":
        return BertTokenizer(vocab=str(folder / "bert-base-uncased" / "vocab.txt"))
    folder = folder / "roberta-base"
    return RobertaTokenizer(vocab=str(folder / "vocab.json"), merges=str(folder / "merges.txt"))


@pytest.mark.shared_data
def test_no_paragraph_of_real_text_is_lost():
    source = shared_data() / "text" / "wikitext-2" / "valid.txt"
    lines = [line.strip() for line in source.read_text().splitlines() if line.strip()]
    texts = [text for entry in entries(str(source)) for text in entry.texts]
    assert texts == lines


@pytest.mark.shared_data
def test_real_tokenizers_find_the_types_of_their_tokens():
    """Comma and full stop by themselves, whatever marks a word's start, as in the papers, and
    those of Japanese."""
    byte_level = {",", ".", "Ġ,", "Ġ.", "ãĢģ", "ãĢĤ"}
    for family, expected in (("bert", set(",.、。，．")), ("roberta", byte_level)):
        tokenizer = real(family)
        vocabulary = tokenizer.get_vocab()
        types = TokenTypes(tokenizer)(np.array(list(vocabulary.values()), dtype=np.int32))
        punctuation = {
            token for token, kind in zip(vocabulary, types, strict=True) if kind == COMMA_PERIOD
        }
        assert punctuation == expected
