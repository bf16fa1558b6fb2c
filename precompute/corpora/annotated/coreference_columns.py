"""Coreference in columns: CoNLL-2012, OntoGUM and similar formats.

Documents stand between `#begin document` and `#end document`, one word per line, the brackets of
mentions in the last column, blank lines between sentences. The word is the fourth column of five
or more, the second of three, the first of two; its part of speech the fifth of eleven or more.
There are no trees.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from analysis.errors import BadCorpus
from precompute.corpora.annotated.documents import (
    Bracketed,
    Brackets,
    Document,
    Sentence,
    bracket_items,
    check_words,
    clusters,
    head_by_tag,
    head_by_word,
    kind_by_tag,
    kind_by_word,
)
from precompute.corpora.sequence import Mention
from precompute.corpora.source import Line, numbered_lines
from precompute.corpora.wording import file_name, shown

_END = re.compile(r"#\s*end document\b")
_WORD_OF = {2: 0, 3: 1}
_LEAST_WIDE, _WORD, _LEAST_TAGGED, _TAG = 5, 3, 11, 4
_NOTHING = frozenset({"", "-", "_", "*"})
_ESCAPED = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
    "/.": ".",
    "/?": "?",
    "/-": "-",
}
_ENDS_SENTENCE = frozenset({".", "!", "?", "。", "！", "？"})
_STILL_OF_SENTENCE = frozenset({'"', "”", "’", "'", ")", "]", "」", "』"})
_NO_SPACE_BEFORE = re.compile(r"[,.;:!?)\]}%]|n['’]t|['’](?:s|re|ve|ll|d|m)?", re.IGNORECASE)
_NO_SPACE_AFTER = frozenset("([{$")


def column_documents(path: Path) -> Iterator[Document | BadCorpus]:
    """Yield the documents of the file in its order, without empty ones.

    One with too few columns in a line, unmatched brackets or placeholders for words is an error.
    """
    document: _UnfinishedDocument | None = None
    for line in numbered_lines(path, stripped=False):
        if re.match(r"#\s*begin document\b", line.text):
            _refuse_unended(document, line.place)
            document = _UnfinishedDocument(line)
        elif _END.match(line.text):
            if document is None:
                raise line.refused("ends a document that did not begin; leave it out")
            yield from document.finished()
            document = None
        elif document is not None:
            document.add(line)
        elif line.text.strip() and not line.text.startswith("#"):
            raise line.refused("stands outside a document; write `#begin document` before it")
    _refuse_unended(document, file_name(path))


class _Word(NamedTuple):
    line: Line
    form: str
    tag: str


@dataclass
class _UnfinishedDocument:
    """A document during reading."""

    begins: Line
    words: list[_Word] = field(default_factory=list)
    breaks: set[int] = field(default_factory=set)
    brackets: Brackets = field(default_factory=Brackets)
    fault: BadCorpus | None = None

    def add(self, line: Line) -> None:
        """Read one more line, unless an earlier one was bad."""
        if not line.text.strip():
            self.breaks.add(len(self.words))
        elif self.fault is None:
            try:
                self._add_word(line)
            except BadCorpus as error:
                self.fault = error

    def _add_word(self, line: Line) -> None:
        columns = line.text.split("\t") if "\t" in line.text else line.text.split()
        tag = columns[_TAG] if len(columns) >= _LEAST_TAGGED else ""
        word, value = _Word(line, _form(columns, line), tag), columns[-1].strip()
        for kind, name in () if value in _NOTHING else bracket_items(value, place=line.place):
            self.brackets.add(kind, name, len(self.words), line)
        self.words.append(word)

    def finished(self) -> Iterator[Document | BadCorpus]:
        try:
            if self.fault is not None:
                raise self.fault
            if self.words:
                check_words([word.form for word in self.words], self.words[0].line)
            closed = self.brackets.all_closed()
        except BadCorpus as error:
            yield error
            return
        if not self.words:
            return
        breaks = self.breaks - {0, len(self.words)}
        by_rule = not breaks
        starts = sorted({0, *(_breaks_by_rule(self.words, closed) if by_rule else breaks)})
        tagged = all(word.tag not in _NOTHING for word in self.words)
        yield Document(
            sentences=tuple(
                _sentence(self.words[start:end])
                for start, end in zip(starts, [*starts[1:], len(self.words)], strict=True)
            ),
            mentions=_mentions(self.words, closed, starts=frozenset(starts), tagged=tagged),
            bears_coreference=True,
            heads_by="tag" if tagged else "word",
            sentences_by_rule=by_rule,
        )


def _refuse_unended(document: _UnfinishedDocument | None, place: str) -> None:
    if document is not None:
        raise BadCorpus(
            place,
            f"the document that begins in line {document.begins.number} does not end; write `#end "
            "document` after its last word, and see whether the file was cut off",
        )


def _form(columns: list[str], line: Line) -> str:
    """Return a word's spelling, with the Penn Treebank's escapes of brackets and quotes undone."""
    wide = len(columns) >= _LEAST_WIDE
    if not wide and len(columns) not in _WORD_OF:
        raise line.refused(
            f"{len(columns)} column(s), as in {shown(line.text)}; give 2 (word, brackets), 3 "
            "(number, word, brackets) or the 12 and more of CoNLL-2012"
        )
    form = columns[_WORD if wide else _WORD_OF[len(columns)]]
    return _ESCAPED.get(form, form)


def _breaks_by_rule(words: list[_Word], brackets: list[Bracketed]) -> set[int]:
    """Return the sentence breaks of a document without blank lines, outside of mentions.

    A sentence ends after the word `.`, `!` or `?`, and the quotes and brackets that close after it.
    """
    inside = {place for bracket in brackets for place in range(bracket.first + 1, bracket.last + 1)}
    breaks: set[int] = set()
    ended = False
    for place, word in enumerate(words):
        if ended and word.form not in _STILL_OF_SENTENCE | _ENDS_SENTENCE:
            breaks.add(place)
            ended = False
        ended = ended or word.form in _ENDS_SENTENCE
    return breaks - inside


def _sentence(words: list[_Word]) -> Sentence:
    nothing = ("",) * len(words)
    after = [*(word.form for word in words[1:]), ""]
    return Sentence(
        forms=tuple(word.form for word in words),
        spaces=tuple(
            word.form not in _NO_SPACE_AFTER and not _NO_SPACE_BEFORE.fullmatch(following)
            for word, following in zip(words, after, strict=True)
        ),
        governors=None,
        relations=None,
        parts_of_speech=nothing,
        features=nothing,
        first=words[0].line,
        last=words[-1].line,
    )


def _mentions(
    words: list[_Word], brackets: list[Bracketed], *, starts: frozenset[int], tagged: bool
) -> tuple[Mention, ...]:
    """Return the mentions that corefer with another mention of the document."""
    cluster_of = clusters(bracket.name for bracket in brackets)
    forms, tags = [word.form for word in words], [word.tag for word in words]
    mentions: list[Mention] = []
    for first, last, name, _ in brackets:
        if name not in cluster_of:
            continue
        if tagged:
            head = head_by_tag(first, last, tags)
            kind = kind_by_tag(tags[head])
        else:
            head = head_by_word(first, last, forms)
            begins = head in starts
            kind = kind_by_word(forms[head], alone=first == last, begins_sentence=begins)
        mentions.append(Mention(first, last, head, cluster_of[name], kind))
    return tuple(mentions)
