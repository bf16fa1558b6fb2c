"""Special tokens that are written in a text: letters like any others, and never the token."""

from functools import lru_cache
from typing import cast

from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast


@lru_cache(maxsize=1)  # asked for every text of a corpus
def frame_tokens(tokenizer: PreTrainedTokenizerBase) -> frozenset[str]:
    """All special tokens but the unknown one, which stands for what is in a text."""
    return frozenset(map(str, tokenizer.all_special_tokens)) - {str(tokenizer.unk_token)}


def spelt_out(token: str, tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """The pieces of a token in a text: itself, or those of its letters if it is a special one.

    Tokenizers are asked to take special tokens for letters (`split_special_tokens`). Models whose
    pieces hold whole words, as those of T5 and XLM-R, may find one among their pieces even then,
    which its first letter by itself prevents.
    """
    if token not in frame_tokens(tokenizer):
        return [token]
    model = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer.model
    return [piece.value for part in (token[:1], token[1:]) for piece in model.tokenize(part)]
