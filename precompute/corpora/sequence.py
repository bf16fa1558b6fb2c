"""What every corpus is reduced to before a model sees it."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Int32, UInt8

TOKEN_TYPES = ("cls", "sep", "comma_period", "other")
NO_WORD = -1


@dataclass(frozen=True)
class Text:
    """A text to be encoded by itself."""

    text: str
    place: str


@dataclass(frozen=True)
class Pair:
    """Two texts to be encoded as one sequence of two segments."""

    text_a: str
    text_b: str
    place: str


@dataclass(frozen=True)
class Tokens:
    """Tokens to be used as they are, special ones included.

    Segments None means: 0 up to and including the first separator, then 1.
    """

    tokens: tuple[str, ...]
    segments: tuple[int, ...] | None
    place: str


Entry = Text | Pair | Tokens


@dataclass(frozen=True)
class Sequence:
    """One input of the model, without padding.

    `token_types` holds positions in `TOKEN_TYPES`; `words` numbers the words that tokens are pieces
    of, `NO_WORD` for tokens that stand for none; `masked` marks mask tokens; `place` says where in
    the file it came from.
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

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Corpus:
    """A corpus as one model reads it.

    `sha256` is that of the file; `counts` says what reading did to the text: `truncated` (sequences
    that were cut to fit), `unpaired` (paragraphs that stand alone for want of a partner),
    `too_short` (ends of documents left out because they hold too little to be packed).
    """

    name: str
    sha256: str
    sequences: tuple[Sequence, ...]
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def n_tokens(self) -> int:
        return sum(map(len, self.sequences))
