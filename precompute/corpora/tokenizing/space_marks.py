"""Tokens of a text by tokenizers that mark the space before a word as `▁`, such as
SentencePiece."""

from typing import cast

from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from precompute.corpora.tokenizing.kind import MARK, prepared


def pieces_within(text: str, tokenizer: PreTrainedTokenizerBase, *, space: bool) -> list[str]:
    """Return the tokens of a text inside another one, after a space or directly after a letter.

    Some of these tokenizers put a space before any text; here one stands only where the text has
    one.
    """
    backend = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer
    chunks = prepared(text, backend)
    chunks[0] = MARK * space + chunks[0].lstrip(MARK)
    tokenized = (backend.model.tokenize(chunk) for chunk in chunks if chunk.strip(MARK))
    return [token.value for tokens in tokenized for token in tokens]
