"""Documents of which each word is annotated, before they are made sequences."""

import re
from bisect import bisect_left
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from precompute.corpora.annotated.annotation import Mention
from precompute.corpora.lines import Line
from precompute.corpora.wording import shown

_BLANK = re.compile("_+")
_PLACEHOLDER = re.compile(r"\[\w+\]|<\w+>|[Xx]+")


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence, as `Annotation` has them; `first` and `last` are its lines."""

    forms: tuple[str, ...]
    spaces: tuple[bool, ...]
    governors: tuple[int, ...] | None
    relations: tuple[str, ...] | None
    parts_of_speech: tuple[str, ...]
    features: tuple[str, ...]
    first: Line
    last: Line

    def __len__(self) -> int:
        return len(self.forms)


def check_words(forms: SequenceOf[str], line: Line) -> None:
    """Raise if a placeholder stands for every word, as where words may not be passed on.

    Placeholders are underscores, as many as a word has letters or one; and `[WORD]`, `<unk>` or
    `XXX` where there are several words and no other.

    Raises:
        BadCorpus: naming the line.
    """
    first = forms[0]
    is_one_form = len(forms) > 1 and set(forms) == {first}
    if all(map(_BLANK.fullmatch, forms)) or (is_one_form and _PLACEHOLDER.fullmatch(first)):
        raise line.refused(
            f"{shown(first)} stands for every word, as where words may not be passed on; put them "
            "back first with the script of whoever made the corpus (those of OntoNotes are the "
            "LDC's)"
        )


@dataclass(frozen=True)
class Document:
    """Sentences that follow each other, and their mentions, whose words count within it all.

    `bears_coreference` marks a document that was annotated and holds none from one that was not,
    `heads_by` what the heads and kinds of mentions follow from, `sentences_by_rule` whether the
    file left it to us where sentences end, `mentions_without_words` how many mentions are left out
    because they hold empty nodes alone.
    """

    sentences: tuple[Sentence, ...]
    mentions: tuple[Mention, ...] = ()
    bears_coreference: bool = False
    heads_by: Literal["tree", "tag", "word"] = "tree"
    sentences_by_rule: bool = False
    mentions_without_words: int = 0

    @property
    def n_rows(self) -> int:
        """Number of its rows: its sentences, or one if mentions bind them together."""
        return 1 if self.bears_coreference else len(self.sentences)

    def begun_before(self, word: int) -> int:
        """How many mentions begin before a word; they stand in the order in which they begin."""
        return bisect_left(self.mentions, word, key=lambda mention: mention.first)

    def ended_before(self, word: int) -> int:
        """How many mentions end before a word."""
        return bisect_left(self._last_words, word)

    @cached_property
    def _last_words(self) -> list[int]:
        return sorted(mention.last for mention in self.mentions)
