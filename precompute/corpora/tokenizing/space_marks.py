"""Pieces of a text for tokenizers whose tokens hold the space before a word as `▁`, as those of
SentencePiece do."""

from typing import cast

from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from precompute.corpora.tokenizing.kind import MARK, prepared


def pieces_within(text: str, tokenizer: PreTrainedTokenizerBase, *, space: bool) -> list[str]:
    """The tokens of a text inside another one, after a space or directly after a letter.

    Some of these tokenizers put a space before whatever they are given; here one stands where the
    text has one.
    """
    backend = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer
    chunks = prepared(text, backend)
    chunks[0] = MARK * space + chunks[0].lstrip(MARK)
    tokenized = (backend.model.tokenize(chunk) for chunk in chunks if chunk.strip(MARK))
    return [token.value for tokens in tokenized for token in tokens]
