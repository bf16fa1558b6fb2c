"""What a treebank or a coreference corpus says of the words of one sequence."""

from dataclasses import dataclass
from typing import Literal

ROOT = -1
MentionKind = Literal["pronoun", "proper", "nominal"]


@dataclass(frozen=True)
class Mention:
    """Words that stand for something: from `first` to `last`, which both belong to it.

    Mentions of the same `cluster` stand for the same thing; `head` is the word that carries the
    mention, as its syntax or a rule of the reader has it.
    """

    first: int
    last: int
    head: int
    cluster: int
    kind: MentionKind


@dataclass(frozen=True)
class Annotation:
    """The words of one sequence; places of words count from 0 within the sequence.

    `spaces` says after which words a space stands, `sentences` which sentence each is of.
    `governors` holds the place of each word's syntactic head, `ROOT` for the root of a sentence,
    `relations` the label of that dependency; both are None where there is no tree.
    `parts_of_speech` (UPOS) and `features` (UD's FEATS, `Key=Value|…`) are empty where unknown.
    `mentions` stand in the order of `first`, the longer first.
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
        """The words with the spaces between them."""
        ends = (" " if space else "" for space in self.spaces)
        return "".join(form + end for form, end in zip(self.forms, ends, strict=True)).strip()
