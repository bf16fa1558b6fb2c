"""Entries, sequences and their annotations, alike for every format; and draws among sequences."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Bool, Int32, UInt8

from analysis.errors import UserError
from analysis.token_types import TOKEN_TYPES
from precompute.corpora.images.pictures import Picture

NO_WORD = -1
ROOT = -1
MentionKind = Literal["pronoun", "proper", "nominal"]


@dataclass(frozen=True)
class Mention:
    """Words that refer to something: from `first` to `last`, both included.

    Mentions of the same `cluster` refer to the same thing. `head` is the head word of the mention,
    by syntax or by a rule of the reader.
    """

    first: int
    last: int
    head: int
    cluster: int
    kind: MentionKind


@dataclass(frozen=True)
class Annotation:
    """The words of one sequence, with their trees and mentions; places of words count from 0.

    `spaces` is True for words that a space follows. `sentences` holds each word's sentence number.
    `governors` holds the place of each word's syntactic head, `ROOT` for the root of a sentence,
    and `relations` the label of that dependency; both are None without a tree. `parts_of_speech`
    (UPOS) and `features` (UD's FEATS, `Key=Value|…`) are empty where unknown. `mentions` are
    ordered by `first`, the longer first.
    """

    forms: tuple[str, ...]
    spaces: tuple[bool, ...]
    sentences: tuple[int, ...]
    governors: tuple[int, ...] | None
    relations: tuple[str, ...] | None
    parts_of_speech: tuple[str, ...]
    features: tuple[str, ...]
    mentions: tuple[Mention, ...] = ()

    def __len__(self) -> int:
        return len(self.forms)

    @property
    def text(self) -> str:
        ends = (" " if space else "" for space in self.spaces)
        return "".join(form + end for form, end in zip(self.forms, ends, strict=True)).strip()


@dataclass(frozen=True)
class Entry:
    """Source of a sequence: a text or two to encode, tokens to use as they are, special ones
    included, or annotated words.

    `segments` are the tokens'; None means 0 up to and including the first separator, then 1.
    `document` is the number of the document that the entry is a window of; None without one.
    """

    place: str
    texts: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    segments: tuple[int, ...] | None = None
    annotation: Annotation | None = None
    document: int | None = None


@dataclass(frozen=True)
class Sequence:
    """One input of the model, without padding.

    `token_types` holds positions in `TOKEN_TYPES`. `words` numbers the words behind tokens,
    `NO_WORD` for tokens outside of words. `masked` marks mask tokens. `place` is the origin in the
    file. `annotation` holds the annotation of its words, and `word_spans` the first and the end of
    each word's tokens, masked or not; both are None for plain text. `targets` are the ids behind
    masks, −1 elsewhere; None without masks. `document` is the number of the document that the
    sequence is a window of; None without one.

    An image is a sequence too: its tokens are `image`'s patches after some special ones, and `ids`
    their positions. Of a text `image` is None.
    """

    index: int
    ids: Int32[np.ndarray, " token"]
    segments: UInt8[np.ndarray, " token"]
    token_types: UInt8[np.ndarray, " token"]
    words: Int32[np.ndarray, " token"]
    masked: Bool[np.ndarray, " token"]
    tokens: tuple[str, ...]
    text: str
    place: str
    annotation: Annotation | None = None
    word_spans: Int32[np.ndarray, "word two"] | None = None
    targets: Int32[np.ndarray, " token"] | None = None
    image: Picture | None = None
    document: int | None = None

    @property
    def picture(self) -> Picture:
        if self.image is None:
            raise TypeError(f"Sequence {self.index} is a text.")
        return self.image

    @property
    def named_types(self) -> tuple[str, ...]:
        return tuple(TOKEN_TYPES[kind] for kind in self.token_types)

    @property
    def masked_words(self) -> Bool[np.ndarray, " word"]:
        """Return True for annotated words with a masked piece, which the model does not read."""
        spans = np.zeros((0, 2), np.int32) if self.word_spans is None else self.word_spans
        before = np.concatenate([[0], self.masked.cumsum()])
        return before[spans[:, 1]] > before[spans[:, 0]]

    def __len__(self) -> int:
        return len(self.ids)


def bare_sequence(ids: Iterable[int], **known: Any) -> Sequence:
    """Return a sequence of which its ids and what is given are known, and no words and text."""
    numbers = np.array(ids, dtype=np.int32)
    zeros, tokens = np.zeros(len(numbers), dtype=np.uint8), ("",) * len(numbers)
    nothing: dict[str, Any] = {"index": 0, "tokens": tokens, "text": "", "place": ""}
    nothing |= {"segments": zeros, "token_types": zeros, "masked": zeros.astype(bool)}
    nothing["words"] = np.full_like(numbers, NO_WORD)
    return Sequence(ids=numbers, **nothing | known)


Purpose = Literal["packing", "masking", "positions", "perturbation"]
PURPOSES = get_args(Purpose)


def generator(seed: int, *, purpose: Purpose, index: int) -> np.random.Generator:
    """The generator for one sequence; no two purposes or indices share a stream."""
    if seed < 0:
        raise UserError(f"--seed is {seed}; it must be 0 or more.")
    beside = (PURPOSES.index(purpose), index)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=beside))


def evenly_spaced(indices: Iterable[int], n: int) -> frozenset[int]:
    """Return all indices, or n evenly spaced ones if there are more."""
    ordered = indices if isinstance(indices, range) else sorted(indices)
    n = min(n, len(ordered))
    return frozenset(ordered[place * len(ordered) // n] for place in range(n))
