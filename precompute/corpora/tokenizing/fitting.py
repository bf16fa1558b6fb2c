"""Texts in batches as tokens, no more of each than there is room for."""

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from analysis.errors import UserError
from precompute.corpora.sequence import Entry, Pair, Text
from precompute.corpora.special_tokens import encodings, room_for
from precompute.corpora.tokenizing.beginning import beginning
from precompute.corpora.tokenizing.encoded import Encoded

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
            if batch and (is_full or type(entry) is not type(batch[0])):
                yield batch
                batch, n_characters = [], 0
            batch.append(entry)
            is_text = isinstance(entry, Text | Pair)
            n_characters += sum(map(len, entry.texts)) if is_text else _BATCH_CHARACTERS
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

    texts: tuple[str, ...]
    encoded: Encoded
    lengths: tuple[int, ...]
    is_cut: bool


def fitted(
    tokenizer: PreTrainedTokenizerBase, batch: SequenceOf[tuple[str, ...]], *, max_tokens: int
) -> list[Fitted]:
    """Single texts, or pairs, without the tokens that exceed `max_tokens`.

    Texts lose tokens at their end, pairs single ones at the end of the longer text (of the second
    if both are equally long).

    Raises:
        UserError: `max_tokens` leaves no room for one or two texts.
    """
    room = room_for(len(batch[0]), tokenizer, max_tokens)
    read = [_beginnings(texts, _CHARACTERS * room, tokenizer) for texts in batch]
    encoded = encodings(tokenizer, read)
    return [
        _fitted(tokenizer, *of_entry, room) for of_entry in zip(batch, read, encoded, strict=True)
    ]


def _beginnings(
    texts: tuple[str, ...], length: int, tokenizer: PreTrainedTokenizerBase
) -> tuple[str, ...]:
    return tuple(beginning(text, length, tokenizer) for text in texts)


def _fitted(
    tokenizer: PreTrainedTokenizerBase,
    texts: tuple[str, ...],
    read: tuple[str, ...],
    encoded: Encoded,
    room: int,
) -> Fitted:
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
