"""Texts as tokens, in a tokenizer's own template, no more of each than there is room for."""

import json
import re
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from typing import Any, cast

import numpy as np
from jaxtyping import Int32
from tokenizers import Encoding
from tokenizers import Tokenizer as Backend
from transformers import BertJapaneseTokenizer, PreTrainedTokenizerFast
from transformers import PreTrainedTokenizerBase as Tokenizer

from analysis.errors import UnfitModel, UserError
from precompute.corpora.sequence import NO_WORD, Entry
from precompute.corpora.tokenizing.kind import (
    frame_tokens,
    is_japanese,
    kind_of,
    prepared,
    spelt_out,
    words_of_japanese,
)
from precompute.corpora.tokenizing.words import words_of_tokens

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


def beginning(text: str, length: int, tokenizer: Tokenizer) -> str:
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
def _ends(tokenizer: Tokenizer) -> re.Pattern[str] | None:
    """Return the pattern of places where a text may end; None if there are none."""
    if not tokenizer.is_fast:
        return None
    backend = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer
    added = cast(Any, tokenizer).added_tokens_encoder
    marks = "".join(mark for mark in _MARKS if _parts_texts(mark, backend, added))
    return re.compile(f"(?<={_LETTER})(?=[{marks}]{_LETTER})") if marks else None


def _parts_texts(mark: str, backend: Backend, added: Iterable[str]) -> bool:
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


Texts = tuple[str, ...]
"""A text, or a pair of them."""


@dataclass(frozen=True)
class Encoded:
    """One text or a pair in a tokenizer's own template.

    Attributes:
        sides: index of each token's text, None for added tokens.
        words: word of each token, `NO_WORD` for added tokens; no word is of two texts.
    """

    ids: Int32[np.ndarray, " token"]
    segments: Int32[np.ndarray, " token"]
    sides: tuple[int | None, ...]
    words: Int32[np.ndarray, " token"]

    def pieces(self, n_texts: int) -> list[list[int]]:
        return [
            [place for place, token_side in enumerate(self.sides) if token_side == side]
            for side in range(n_texts)
        ]

    def at(self, places: SequenceOf[int]) -> "Encoded":
        return Encoded(
            ids=self.ids[places],
            segments=self.segments[places],
            sides=tuple(self.sides[place] for place in places),
            words=self.words[places],
        )


def _encoded_fast(tokenizer: Tokenizer, batch: SequenceOf[Texts]) -> list[Encoded]:
    texts, partners = (*map(list, zip(*batch, strict=True)), None)[:2]
    seen = tokenizer(
        texts,
        partners,
        truncation=False,
        padding=False,
        return_token_type_ids=False,
        return_attention_mask=False,
        split_special_tokens=True,
        verbose=False,
    )
    return [_spelt_out(tokenizer, of_texts) for of_texts in cast(list[Encoding], seen.encodings)]


def _spelt_out(tokenizer: Tokenizer, seen: Encoding) -> Encoded:
    """Split every special token within a text into letters, as one word."""
    ids, sides = seen.ids, seen.sequence_ids
    columns: list[Any] = [ids, seen.type_ids, sides, seen.word_ids]
    tokens = list(zip(seen.tokens, sides, strict=True))
    if not frame_tokens(tokenizer).isdisjoint(token for token, side in tokens if side is not None):
        pieces = [
            [token] if side is None else spelt_out(token, tokenizer) for token, side in tokens
        ]
        columns = [
            [value for value, of_token in zip(column, pieces, strict=True) for _ in of_token]
            for column in columns
        ]
        columns[0] = tokenizer.convert_tokens_to_ids([*chain.from_iterable(pieces)])
    return _encoded(tokenizer, *columns)


def _encoded_japanese(tokenizer: BertJapaneseTokenizer, *texts: str) -> Encoded:
    """Encode texts by `BertJapaneseTokenizer`, with the words of its morphological analyser."""
    words = [words_of_japanese(text, tokenizer) for text in texts]
    inside: list[Any] = [
        tokenizer.convert_tokens_to_ids([*chain.from_iterable(of_text)]) for of_text in words
    ]
    ids = tokenizer.build_inputs_with_special_tokens(*inside)
    segments = tokenizer.create_token_type_ids_from_sequences(*inside)
    is_added = np.array(tokenizer.get_special_tokens_mask(*inside), dtype=bool)
    sides, numbers = np.full(len(ids), None), np.full(len(ids), None)
    sides[~is_added] = np.repeat(range(len(texts)), list(map(len, inside)))
    numbers[~is_added] = [n for of_text in words for n, word in enumerate(of_text) for _ in word]
    return _encoded(tokenizer, ids, segments, sides.tolist(), numbers.tolist())


def _encoded(
    tokenizer: Tokenizer,
    ids: list[int],
    segments: list[int],
    sides: list[int | None],
    known: list[Any],
) -> Encoded:
    """Number the words through both texts: by their tokens, or as they are `known` by the tokenizer
    within each text."""
    kind, tokens = kind_of(tokenizer), tokenizer.convert_ids_to_tokens(ids)
    words = np.full(len(ids), NO_WORD, dtype=np.int32)
    encoded = Encoded(
        np.array(ids, dtype=np.int32), np.array(segments, dtype=np.int32), tuple(sides), words
    )
    for side, places in enumerate(encoded.pieces(2)):
        of_side = None if kind.holds_spaces else [known[place] for place in places]
        of_side = words_of_tokens([tokens[place] for place in places], kind, of_side)
        words[places] = 2 * of_side + side
    return encoded


PROBE = "."  # a text of one token for every tokenizer


def check_tokenizer(tokenizer: Tokenizer) -> None:
    """Raise UnfitModel if the words of a tokenizer's tokens are unknown."""
    if not tokenizer.is_fast and not is_japanese(tokenizer):
        raise UnfitModel(
            f"{type(tokenizer).__name__} is a tokenizer written in Python, which cannot tell the "
            "tokens of a text from those it adds; of such tokenizers BertJapaneseTokenizer alone "
            "is read. Use a model that has a tokenizer.json."
        )


def encodings(tokenizer: Tokenizer, batch: SequenceOf[Texts]) -> list[Encoded]:
    """Encode single texts, or pairs, in the tokenizer's own template, neither cut nor padded.

    If that template has no separator between two texts, the second begins on a new line.
    """
    check_tokenizer(tokenizer)
    if is_japanese(tokenizer):
        return [_encoded_japanese(tokenizer, *texts) for texts in batch]
    if len(batch[0]) == 2 and tokenizer.num_special_tokens_to_add(pair=True) == 0:
        batch = [(first, f"\n{second}") for first, second in batch]
    return _encoded_fast(tokenizer, batch)


def room_for(n_texts: int, tokenizer: Tokenizer, max_tokens: int) -> int:
    """Return the number of tokens of one or two texts that fit beside the special ones."""
    special = tokenizer.num_special_tokens_to_add(pair=n_texts == 2)
    if max_tokens < special + n_texts:
        raise UserError(
            f"--max-tokens is {max_tokens}, but {('one text', 'a pair of texts')[n_texts - 1]} "
            f"needs at least {special + n_texts} with this tokenizer's {special} special token(s)."
        )
    return max_tokens - special


def framed(
    pieces: tuple[list[str], ...], tokenizer: Tokenizer
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the tokens of one or two lists of word pieces in the tokenizer's template, and the
    segment id of each.

    The template is found by encoding a text of one token, as often as there are lists.
    """
    (seen,) = encodings(tokenizer, [tuple(PROBE for _ in pieces)])
    of_template = tokenizer.convert_ids_to_tokens(seen.ids.tolist())
    columns = zip(seen.sides, seen.segments.tolist(), of_template, strict=True)
    tokens: list[str] = []
    segments: list[int] = []
    for (text, segment), group in groupby(columns, key=lambda column: column[:2]):
        block = [column[2] for column in group] if text is None else pieces[text]
        tokens += block
        segments += [segment] * len(block)
    return tuple(tokens), tuple(segments)


_CHARACTERS = 16
"""Characters read of a text for each token of room, several times the need of most texts."""
_BATCH, _BATCH_CHARACTERS = 256, 2**20


def in_batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Yield some single texts or pairs at a time, other entries one by one.

    Those before an error come before it.
    """
    batch: list[Entry] = []
    n_characters = 0
    try:
        for entry in entries:
            is_full = len(batch) == _BATCH or n_characters >= _BATCH_CHARACTERS
            if batch and (is_full or len(entry.texts) != len(batch[0].texts)):
                yield batch
                batch, n_characters = [], 0
            batch.append(entry)
            n_characters += sum(map(len, entry.texts)) if entry.texts else _BATCH_CHARACTERS
    except UserError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


@dataclass(frozen=True)
class Fitted:
    """One text or a pair, as much of it as there is room for.

    Attributes:
        texts: as far as they were read; whole unless they are far longer than there is room for.
        lengths: tokens of each text as far as it was read; more than there is room for if it goes
            on.
    """

    texts: Texts
    encoded: Encoded
    lengths: tuple[int, ...]
    is_cut: bool


def fitted(tokenizer: Tokenizer, batch: SequenceOf[Texts], *, max_tokens: int) -> list[Fitted]:
    """Single texts, or pairs, without the tokens that exceed `max_tokens`.

    Texts lose tokens at their end, pairs single ones at the end of the longer text (of the second
    if both are equally long).
    """
    room = room_for(len(batch[0]), tokenizer, max_tokens)
    read = [_beginnings(texts, _CHARACTERS * room, tokenizer) for texts in batch]
    encoded = encodings(tokenizer, read)
    return [
        _fitted(tokenizer, *of_entry, room) for of_entry in zip(batch, read, encoded, strict=True)
    ]


def _beginnings(texts: Texts, length: int, tokenizer: Tokenizer) -> Texts:
    return tuple(beginning(text, length, tokenizer) for text in texts)


def _fitted(tokenizer: Tokenizer, texts: Texts, read: Texts, encoded: Encoded, room: int) -> Fitted:
    pieces = encoded.pieces(len(texts))
    while any(
        len(part) < len(text) and len(of_side) < room + 2  # the last may be another one
        for text, part, of_side in zip(texts, read, pieces, strict=True)
    ):
        read = _beginnings(texts, 2 * max(map(len, read)), tokenizer)
        (encoded,) = encodings(tokenizer, [read])
        pieces = encoded.pieces(len(texts))
    kept = _kept(pieces, room)
    lost = {place for of_side, n in zip(pieces, kept, strict=True) for place in of_side[n:]}
    if lost:
        encoded = encoded.at([place for place in range(len(encoded.ids)) if place not in lost])
    return Fitted(read, encoded, tuple(map(len, pieces)), bool(lost))


def _kept(pieces: list[list[int]], room: int) -> tuple[int, ...]:
    """Return the number of tokens kept of each text."""
    lengths = tuple(map(len, pieces))
    if sum(lengths) <= room:
        return lengths
    if len(lengths) == 1:
        return (room,)
    second = min(lengths[1], max(room // 2, room - lengths[0]))
    return room - second, second
