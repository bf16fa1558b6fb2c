"""Entries and sequences, which look the same for every corpus format."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int32, UInt8

from analysis.token_types import TOKEN_TYPES
from precompute.corpora.annotated.annotation import Annotation
from precompute.corpora.images.pictures import Picture

NO_WORD = -1


@dataclass(frozen=True)
class Text:
    """A text to encode alone."""

    text: str
    place: str
    document: int | None = None

    @property
    def texts(self) -> tuple[str]:
        return (self.text,)


@dataclass(frozen=True)
class Pair:
    """Two texts to encode as one sequence of two segments."""

    text_a: str
    text_b: str
    place: str
    document: int | None = None

    @property
    def texts(self) -> tuple[str, str]:
        return self.text_a, self.text_b


@dataclass(frozen=True)
class Tokens:
    """Tokens to use as they are, special ones included.

    Segments None means: 0 up to and including the first separator, then 1.
    """

    tokens: tuple[str, ...]
    segments: tuple[int, ...] | None
    place: str
    document: int | None = None


@dataclass(frozen=True)
class Annotated:
    """Words with their annotation from a treebank or a coreference corpus."""

    annotation: Annotation
    place: str
    document: int | None = None


Entry = Text | Pair | Tokens | Annotated
"""Each with the number of the document that it is a window of; None without a document."""


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
        """Return the image of an image sequence.

        Raises:
            TypeError: it is a text.
        """
        if self.image is None:
            raise TypeError(f"Sequence {self.index} is a text.")
        return self.image

    @property
    def named_types(self) -> tuple[str, ...]:
        """Return the type of every token by name."""
        return tuple(TOKEN_TYPES[kind] for kind in self.token_types)

    @property
    def masked_words(self) -> Bool[np.ndarray, " word"]:
        """Return True for annotated words with a masked piece, which the model does not read."""
        spans = np.zeros((0, 2), np.int32) if self.word_spans is None else self.word_spans
        before = np.concatenate([[0], self.masked.cumsum()])
        return before[spans[:, 1]] > before[spans[:, 0]]

    def __len__(self) -> int:
        return len(self.ids)
