"""Documents with annotated words, before they are cut into sequences."""

import re
from bisect import bisect_left
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from precompute.corpora.annotated.annotation import ROOT, Annotation, Mention
from precompute.corpora.lines import Line
from precompute.corpora.wording import shown

_BLANK = re.compile("_+")
_PLACEHOLDER = re.compile(r"\[\w+\]|<\w+>|[Xx]+")


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence, as in `Annotation`; `first` and `last` are its lines."""

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


def joined(sentences: SequenceOf[Sentence], mentions: tuple[Mention, ...] = ()) -> Annotation:
    """Join several sentences into one; without a tree if one of them has none."""
    governors: list[int] = []
    for sentence in sentences:
        start = len(governors)
        of_sentence = sentence.governors or (ROOT,) * len(sentence)
        governors += [ROOT if governor == ROOT else start + governor for governor in of_sentence]
    relations = tuple(label for sentence in sentences for label in sentence.relations or ())
    trees = all(sentence.governors is not None for sentence in sentences)
    return Annotation(
        forms=tuple(form for sentence in sentences for form in sentence.forms),
        spaces=tuple(space for sentence in sentences for space in sentence.spaces),
        sentences=tuple(n for n, sentence in enumerate(sentences) for _ in sentence.forms),
        governors=tuple(governors) if trees else None,
        relations=relations if trees else None,
        parts_of_speech=tuple(part for sentence in sentences for part in sentence.parts_of_speech),
        features=tuple(feature for sentence in sentences for feature in sentence.features),
        mentions=mentions,
    )


def check_words(forms: SequenceOf[str], line: Line) -> None:
    """Raise BadCorpus if placeholders replace all words, as in corpora without a licence for them.

    Placeholders are underscores, one or as many as a word has letters; and `[WORD]`, `<unk>` or
    `XXX` in sentences of several words.
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
    """Successive sentences and their mentions, whose words count from the document's start.

    `bears_coreference` is True for a document annotated with coreference, even without mentions.
    `heads_by` names the source of the mentions' heads and kinds. `sentences_by_rule` is True if our
    rule splits sentences, not the file. `mentions_without_words` counts the mentions that are left
    out because they hold empty nodes alone.
    """

    sentences: tuple[Sentence, ...]
    mentions: tuple[Mention, ...] = ()
    bears_coreference: bool = False
    heads_by: Literal["tree", "tag", "word"] = "tree"
    sentences_by_rule: bool = False
    mentions_without_words: int = 0

    @property
    def n_rows(self) -> int:
        """Return the number of rows: of sentences, or 1 if mentions bind the document together."""
        return 1 if self.bears_coreference else len(self.sentences)

    def begun_before(self, word: int) -> int:
        """Return the number of mentions that begin before a word, by their order in the text."""
        return bisect_left(self.mentions, word, key=lambda mention: mention.first)

    def ended_before(self, word: int) -> int:
        """Return the number of mentions that end before a word."""
        return bisect_left(self._last_words, word)

    @cached_property
    def _last_words(self) -> list[int]:
        return sorted(mention.last for mention in self.mentions)
