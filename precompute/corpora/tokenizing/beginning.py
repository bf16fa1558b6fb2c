"""Safe cuts of long texts before tokenization, which leave the first tokens unchanged."""

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
"""A letter or digit. Excluded are those that some components join with the next character: U+0D4E
and several beyond U+FFFF."""
_LOCAL = {
    *("BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled", "Prepend"),
    *("Strip", "StripAccents", "BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits"),
    *("Metaspace", "Punctuation", "Whitespace", "WhitespaceSplit"),
}
"""Tokenizer components whose output before a mark does not depend on the text after it."""
_GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA_3, _QWEN_2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
    + digits
    + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    for digits in (r"\p{N}{1,3}", r"\p{N}")
)
_LOCAL_EXPRESSIONS = {r" {2,}", r"\s+", _GPT_2, _LLAMA_3, _QWEN_2}
"""Patterns for replacing and splitting that match no letter with the mark after it, and look ahead
at most one character, to find the end of white space."""


def beginning(text: str, length: int, tokenizer: PreTrainedTokenizerBase) -> str:
    """Return a beginning of at least `length` characters whose tokens are those of the whole text.

    Only its last token may differ, since unknown letters are joined with the next ones. It ends
    after a letter and before a space or full stop that a letter follows. It is the whole text
    without such a place, or if nothing proves this for the tokenizer.

    A tokenizer finds added tokens, normalizes the text between them, cuts it into chunks and
    tokenizes each. No added token and no component (`_is_local`) reaches across the place. Then
    either a chunk ends there, and the chunks before it are the same. Or there is one chunk, but no
    token holds the mark after another character: merges of BPE then stay on one side of the place,
    and the best path of Unigram, which is found from the left, passes through it.
    """
    ends = _ends(tokenizer) if len(text) > length else None
    place = ends and ends.search(text, length)
    return text[: place.start()] if place else text


@lru_cache(maxsize=1)  # called for every long text of a corpus
def _ends(tokenizer: PreTrainedTokenizerBase) -> re.Pattern[str] | None:
    """Return the pattern of places where a text may end; None if there are none."""
    if not tokenizer.is_fast:
        return None
    backend = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer
    added = cast(Any, tokenizer).added_tokens_encoder
    marks = "".join(mark for mark in _MARKS if _parts_texts(mark, backend, added))
    return re.compile(f"(?<={_LETTER})(?=[{marks}]{_LETTER})") if marks else None


def _parts_texts(mark: str, backend: Tokenizer, added: Iterable[str]) -> bool:
    """Return True if the tokens before a mark do not depend on the text after it."""
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
    """Yield the settings of a normalizer or pre-tokenizer, or of each of its components."""
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
