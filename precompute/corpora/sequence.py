"""What every corpus is reduced to before a model sees it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int32, UInt8

from precompute.corpora.annotated.annotation import Annotation
from precompute.corpora.images.pictures import Picture

TOKEN_TYPES = ("cls", "sep", "comma_period", "other", "register", "bos", "first")
NO_WORD = -1


@dataclass(frozen=True)
class Text:
    """A text to be encoded by itself."""

    text: str
    place: str
    document: int | None = None

    @property
    def texts(self) -> tuple[str]:
        return (self.text,)


@dataclass(frozen=True)
class Pair:
    """Two texts to be encoded as one sequence of two segments."""

    text_a: str
    text_b: str
    place: str
    document: int | None = None

    @property
    def texts(self) -> tuple[str, str]:
        return self.text_a, self.text_b


@dataclass(frozen=True)
class Tokens:
    """Tokens to be used as they are, special ones included.

    Segments None means: 0 up to and including the first separator, then 1.
    """

    tokens: tuple[str, ...]
    segments: tuple[int, ...] | None
    place: str
    document: int | None = None


@dataclass(frozen=True)
class Annotated:
    """Words with what a treebank or a coreference corpus says of them."""

    annotation: Annotation
    place: str
    document: int | None = None


Entry = Text | Pair | Tokens | Annotated
"""Each with the number of the document that it is a window of; None if it stands by itself."""


@dataclass(frozen=True)
class Sequence:
    """One input of the model, without padding.

    `token_types` holds positions in `TOKEN_TYPES`; `words` numbers the words that tokens are pieces
    of, `NO_WORD` for tokens that stand for none; `masked` marks mask tokens; `place` says where in
    the file it came from. `annotation` is what is known of its words, and `word_spans` where the
    pieces of each of them begin and end, masked or not; both are None for plain text. `targets` are
    the ids that stood where something is masked, −1 elsewhere; None where nothing was masked here.
    `document` is the number of the document that it is a window of; None if it stands by itself.

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
        """The image of a sequence that is one.

        Raises:
            TypeError: it is a text.
        """
        if self.image is None:
            raise TypeError(f"Sequence {self.index} is a text.")
        return self.image

    @property
    def named_types(self) -> tuple[str, ...]:
        """The type of every token by its name."""
        return tuple(TOKEN_TYPES[kind] for kind in self.token_types)

    @property
    def masked_words(self) -> Bool[np.ndarray, " word"]:
        """Which annotated words the model does not read, since a piece of them is masked."""
        spans = np.zeros((0, 2), np.int32) if self.word_spans is None else self.word_spans
        before = np.concatenate([[0], self.masked.cumsum()])
        return before[spans[:, 1]] > before[spans[:, 0]]

    def __len__(self) -> int:
        return len(self.ids)
