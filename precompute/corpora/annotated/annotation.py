"""Words, trees and mentions of one annotated sequence."""

from dataclasses import dataclass
from typing import Literal

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
        """Return the words with the spaces between them."""
        ends = (" " if space else "" for space in self.spaces)
        return "".join(form + end for form, end in zip(self.forms, ends, strict=True)).strip()
