"""Documents with annotated words, and their windows: single sentences, or as many as fit."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Literal

from transformers import PreTrainedTokenizerBase as Tokenizer

from precompute.corpora.sequence import ROOT, Annotation, Entry, Mention
from precompute.corpora.source import Line, span
from precompute.corpora.tokenizing.encoded import room_for
from precompute.corpora.tokenizing.kind import word_pieces
from precompute.corpora.wording import shown

_BLANK = re.compile("_+")
_PLACEHOLDER = re.compile(r"\[\w+\]|<\w+>|[Xx]+")


@dataclass(frozen=True, kw_only=True)
class Sentence(Annotation):
    """A sentence by itself, from its `first` to its `last` line."""

    sentences: tuple[int, ...] = ()
    first: Line
    last: Line


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

    @cached_property
    def last_words(self) -> list[int]:
        """Return the last word of each mention, in their own order."""
        return sorted(mention.last for mention in self.mentions)


def windows(
    documents: Iterable[Document],
    tokenizer: Tokenizer,
    *,
    max_tokens: int,
    by_sentence: bool,
    counts: Counter[str],
) -> Iterator[Entry]:
    """Yield single sentences of treebanks, and windows of documents with coreference, unless these
    are read `by_sentence` too.

    A window holds as many sentences as fit. A sentence that does not fit is left out, and the
    windows end before it and begin after it. Mentions that cross the edge of a window are left out.
    """
    room = room_for(1, tokenizer, max_tokens)
    counts.update(too_long=0, coreference_left_out=0)
    for number, document in enumerate(documents):
        alone = by_sentence or not document.bears_coreference
        sizes = [_n_pieces(sentence, tokenizer, room) for sentence in document.sentences]
        following = [
            _n_pieces(sentence, tokenizer, room, space=before.spaces[-1])
            for before, sentence in pairwise((document.sentences[0], *document.sentences))
        ]
        counts["too_long"] += sum(size > room for size in sizes)
        counts["mentions_without_words_left_out"] += document.mentions_without_words
        # where each sentence begins among the words of the document, and where the last one ends
        starts = [0, *accumulate(map(len, document.sentences))]
        for run in _runs(sizes, following, room=1 if alone else room, limit=room):
            window = _window(document, run, starts, counts)
            yield window if alone else replace(window, document=number)


def _n_pieces(sentence: Sentence, tokenizer: Tokenizer, room: int, *, space: bool = False) -> int:
    """Count the tokens of a sentence; if it has too many words return their number instead."""
    if len(sentence) > room:
        return len(sentence)
    place = span(sentence.first, sentence.last)
    pieces = word_pieces(sentence.forms, sentence.spaces, tokenizer, place=place, space=space)
    return sum(map(len, pieces))


def _runs(sizes: list[int], following: list[int], *, room: int, limit: int) -> Iterator[range]:
    """Yield ranges of sentences for one window: until `room` is full, none of more than `limit`.

    `following` holds the sizes of sentences whose first word begins with the space before it.
    """
    first, filled = 0, 0
    for place, size in enumerate(sizes):
        if place > first and (filled + following[place] > room or size > limit):
            yield range(first, place)
            first, filled = place, 0
        if size > limit:
            first = place + 1
        else:
            filled += following[place] if place > first else size
    if first < len(sizes):
        yield range(first, len(sizes))


def _window(document: Document, run: range, starts: list[int], counts: Counter[str]) -> Entry:
    sentences = document.sentences[run.start : run.stop]
    first, end = starts[run.start], starts[run.stop]
    begun, ended = document.begun_before(end), bisect_left(document.last_words, end)
    inside = document.mentions[document.begun_before(first) : begun]
    kept = [mention for mention in inside if mention.last < end]
    counts["mentions_cut"] += begun - ended
    if document.bears_coreference:
        counts[f"heads_by_{document.heads_by}"] += len(kept)
    if document.sentences_by_rule:
        counts["sentences_by_rule"] += len(sentences)
    shifted = (
        replace(of, first=of.first - first, last=of.last - first, head=of.head - first)
        for of in kept
    )
    known = joined(sentences, tuple(shifted))
    return Entry(span(sentences[0].first, sentences[-1].last), annotation=known)
