"""Where a long text may end before it is tokenized, so that its first tokens are the same."""

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, cast

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from precompute.corpora.tokenizing.kind import prepared

_MARKS = (" ", "。")
_LETTER = r"[^\W_\u0d4e\U00010000-\U0010ffff]"
"""A letter or digit, but none that some parts take for one character with what follows it: U+0D4E
and several beyond U+FFFF."""
_LOCAL = {
    *("BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled", "Prepend"),
    *("Strip", "StripAccents", "BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits"),
    *("Metaspace", "Punctuation", "Whitespace", "WhitespaceSplit"),
}
"""Parts that make the same of what stands before a mark, whatever follows the mark."""
_GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA_3, _QWEN_2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
    + digits
    + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    for digits in (r"\p{N}{1,3}", r"\p{N}")
)
_LOCAL_EXPRESSIONS = {r" {2,}", r"\s+", _GPT_2, _LLAMA_3, _QWEN_2}
"""Of replacing and splitting: none matches a letter and the mark after it, or looks further ahead
than to the next character, which only tells it where white space ends."""


def beginning(text: str, length: int, tokenizer: PreTrainedTokenizerBase) -> str:
    """Return a beginning of at least `length` characters whose tokens are those of the whole text.

    Its last token alone may be another one, since unknown letters are joined with what follows. It
    ends after a letter and before a space or full stop that a letter follows. It is the whole text
    where there is no such place, or where nothing proves this of the tokenizer.

    A tokenizer finds added tokens, normalizes what stands between them, cuts it into chunks and
    makes tokens of each. No added token and no part (`_is_local`) reaches across the place. Then
    either a chunk ends there, and the chunks before it are the same. Or there is one chunk, but no
    token holds the mark after something else: merges of BPE then stay on one side of the place, and
    the best path of Unigram, which is found from the left, passes through it.
    """
    ends = _ends(tokenizer) if len(text) > length else None
    place = ends and ends.search(text, length)
    return text[: place.start()] if place else text


@lru_cache(maxsize=1)  # asked for every long text of a corpus
def _ends(tokenizer: PreTrainedTokenizerBase) -> re.Pattern[str] | None:
    """Return what finds the places where a text may end; None if it may nowhere."""
    if not tokenizer.is_fast:
        return None
    backend = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer
    added = cast(Any, tokenizer).added_tokens_encoder
    marks = "".join(mark for mark in _MARKS if _parts_texts(mark, backend, added))
    return re.compile(f"(?<={_LETTER})(?=[{marks}]{_LETTER})") if marks else None


def _parts_texts(mark: str, backend: Tokenizer, added: Iterable[str]) -> bool:
    """Return whether what stands before a mark has the same tokens without what follows."""
    parts = (*_parts(backend.normalizer), *_parts(backend.pre_tokenizer))
    is_local = all(_is_local(part, mark) for part in parts)
    if not is_local or any(_holds_inside(token, mark) for token in added):
        return False
    chunks = prepared(f"a{mark}a", backend)
    if len(chunks) > 1:
        return chunks[0] == prepared("a", backend)[0]
    return not any(_holds_inside(token, chunks[0][-2]) for token in backend.get_vocab())


def _holds_inside(token: str, mark: str) -> bool:
    return mark in token.lstrip(mark)


def _parts(component: Any) -> Iterator[dict[str, Any]]:
    """Yield the settings of a normalizer or pre-tokenizer, or of each that it consists of."""
    waiting = [json.loads(component.__getstate__())] if component else []
    while waiting:
        part = waiting.pop()
        waiting += part.get("normalizers", part.get("pretokenizers", ()))
        if part["type"] != "Sequence":
            yield part


def _is_local(part: dict[str, Any], mark: str) -> bool:
    match part:
        case {"type": "Replace" | "Split", "pattern": {"String": text}}:
            return not _holds_inside(text, mark)
        case {"type": "Replace" | "Split", "pattern": {"Regex": expression}}:
            return expression in _LOCAL_EXPRESSIONS
    return part["type"] in _LOCAL
