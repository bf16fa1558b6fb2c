"""Texts as tokens, in a tokenizer's own template, no more of each than there is room for."""

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, cast

import numpy as np
from jaxtyping import Int32
from tokenizers import Encoding
from transformers import BertJapaneseTokenizer
from transformers import PreTrainedTokenizerBase as Tokenizer

from analysis.errors import UnfitModel, UserError
from precompute.corpora.sequence import NO_WORD, Entry
from precompute.corpora.tokenizing.kind import (
    frame_tokens,
    is_japanese,
    kind_of,
    spelt_out,
    words_of_japanese,
    words_of_tokens,
)

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


_CHARACTERS = 8
"""Characters read of a text for each token that is wanted, about twice the need of most texts."""
_BEYOND = 128
"""Tokens that are read beyond those kept, which do not depend on what follows so late: a tokenizer
looks ahead by a word, and the longest word that WordPiece takes apart has 100 letters."""
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
    length = _CHARACTERS * (room + _BEYOND)
    read = [tuple(text[:length] for text in texts) for texts in batch]
    encoded = encodings(tokenizer, read)
    return [
        _fitted(tokenizer, *of_entry, room) for of_entry in zip(batch, read, encoded, strict=True)
    ]


def _fitted(tokenizer: Tokenizer, texts: Texts, read: Texts, encoded: Encoded, room: int) -> Fitted:
    pieces = encoded.pieces(len(texts))
    while any(
        len(part) < len(text) and len(of_side) < room + _BEYOND
        for text, part, of_side in zip(texts, read, pieces, strict=True)
    ):
        length = 2 * max(map(len, read))
        read = tuple(text[:length] for text in texts)
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
