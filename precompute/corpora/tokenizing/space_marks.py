"""Tokenizers whose tokens hold the space before a word as `▁`, as those of SentencePiece do."""

from functools import lru_cache
from typing import cast

from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

MARK = "▁"


@lru_cache(maxsize=1)  # asked for every text of a corpus
def marks_spaces(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether tokens hold the spaces between words as `▁`."""
    return bool(tokenizer.is_fast) and any(MARK in token for token in tokenizer.tokenize("a a"))


def pieces_within(text: str, tokenizer: PreTrainedTokenizerBase, *, space: bool) -> list[str]:
    """The tokens of a text inside another one, after a space or directly after a letter.

    Some of these tokenizers put a space before whatever they are given; here one stands where the
    text has one.
    """
    backend = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer
    normal = backend.normalizer.normalize_str(text) if backend.normalizer else text
    parts = backend.pre_tokenizer.pre_tokenize_str(normal) if backend.pre_tokenizer else []
    chunks = [chunk for chunk, _ in parts] or [normal]
    chunks[0] = MARK * space + chunks[0].lstrip(MARK)
    tokenized = (backend.model.tokenize(chunk) for chunk in chunks if chunk.strip(MARK))
    return [token.value for tokens in tokenized for token in tokens]
