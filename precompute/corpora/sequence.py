"""What every corpus is reduced to before a model sees it."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int32, UInt8

from precompute.corpora.annotated.annotation import Annotation
from precompute.corpora.images.pictures import Picture

TOKEN_TYPES = ("cls", "sep", "comma_period", "other", "register")
NO_WORD = -1


@dataclass(frozen=True)
class Text:
    """A text to be encoded by itself."""

    text: str
    place: str
    document: int | None = None


@dataclass(frozen=True)
class Pair:
    """Two texts to be encoded as one sequence of two segments."""

    text_a: str
    text_b: str
    place: str
    document: int | None = None


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
        return tuple(TOKEN_TYPES[each] for each in self.token_types)

    @property
    def masked_words(self) -> Bool[np.ndarray, " word"]:
        """Which annotated words the model does not read, since a piece of them is masked."""
        spans = np.zeros((0, 2), np.int32) if self.word_spans is None else self.word_spans
        before = np.concatenate([[0], self.masked.cumsum()])
        return before[spans[:, 1]] > before[spans[:, 0]]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Corpus:
    """A corpus as one model reads it.

    `sha256` is that of the file; `counts` says what reading did to the text: `truncated` (sequences
    that were cut to fit), `unpaired` (paragraphs that stand alone for want of a partner),
    `too_short` (ends of documents left out because they hold too little to be packed); of annotated
    corpora `too_long` (sentences left out because they do not fit), `mentions_cut` (mentions left
    out because they cross the edge of a window), `heads_by_tree`, `heads_by_tag` and
    `heads_by_word` (mentions whose head follows from that), `sentences_by_rule` (sentences whose
    ends the file does not mark); of images `images_left_out` and `masks_left_out` (because they
    cannot be read, or do not fit each other).
    """

    name: str
    sha256: str
    sequences: tuple[Sequence, ...]
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def is_images(self) -> bool:
        """Whether the sequences are images and not texts."""
        return self.sequences[0].image is not None

    @property
    def n_tokens(self) -> int:
        return sum(map(len, self.sequences))

    @cached_property
    def documents(self) -> Int32[np.ndarray, " sequence"]:
        """A number for the document of each sequence, in the order of their first; one of its own
        for a sequence that has none."""
        found: list[int] = []
        numbers: dict[tuple[str, int | None], int] = {}
        for each in self.sequences:
            alone = each.document is None
            key = ("alone", each.index) if alone else ("document", each.document)
            numbers.setdefault(key, len(numbers))
            found.append(numbers[key])
        return np.array(found, dtype=np.int32)
