"""Special tokens that are written in a text: letters like any others, and never the token."""

from functools import lru_cache
from typing import cast

from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast


@lru_cache(maxsize=1)  # called for every text of a corpus
def frame_tokens(tokenizer: PreTrainedTokenizerBase) -> frozenset[str]:
    """Return all special tokens but the unknown one, which replaces parts of a text."""
    return frozenset(map(str, tokenizer.all_special_tokens)) - {str(tokenizer.unk_token)}


def spelt_out(token: str, tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Return the pieces of a token in a text: itself, or those of its letters if it is special.

    Tokenizers are asked to read special tokens as letters (`split_special_tokens`). Models whose
    vocabulary has whole words, such as T5 and XLM-R, may find one in it even then; a split after
    its first letter prevents that.
    """
    if token not in frame_tokens(tokenizer):
        return [token]
    model = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer.model
    return [piece.value for part in (token[:1], token[1:]) for piece in model.tokenize(part)]
