"""CoNLL-U treebanks: one word per line in ten columns, blank lines between sentences.

Words are the syntactic ones: a token of several words, such as `don't`, is read as those words.
Empty nodes and enhanced dependencies are passed over; mentions may begin or end on an empty node.

Differs: the library `conllu` (6.0) cuts a line at two spaces too, takes lines that lack columns,
drops what follows a second `=` in MISC, and knows no line numbers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

from analysis.errors import BadCorpus
from precompute.corpora.annotated.dependency_tree import checked_governors
from precompute.corpora.annotated.documents import Document, Sentence, check_words
from precompute.corpora.annotated.entities import Entities, entity_fields
from precompute.corpora.left_out import OnBadRow, UnreadCoreference, refuse
from precompute.corpora.lines import Line, numbered_lines
from precompute.corpora.wording import shown

N_COLUMNS = 10
_ID = re.compile(r"([0-9]{1,6})(?:([-.])([0-9]{1,6}))?")
_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")
_ABSENT = "_"


def conllu_documents(path: Path, on_bad_row: OnBadRow = refuse) -> Iterator[Document]:
    """Yield the documents of a treebank in its order; without `# newdoc` it is one.

    A bad sentence splits a document in two.

    Args:
        on_bad_row: handler of a sentence that is not CoNLL-U or no tree, or has no words; and of
            coreference (`UnreadCoreference`) in a document with such a sentence, or whose entities
            cannot be read: its other sentences are read without it.

    Raises:
        BadCorpus: a line is not UTF-8.
    """
    document = _UnfinishedDocument()
    lines = numbered_lines(path, stripped=False)
    runs = groupby(lines, key=lambda line: bool(line.text.strip()))
    for block in (list(run) for filled, run in runs if filled):
        comments = [line for line in block if line.text.startswith("#")]
        if any(_NEW_DOCUMENT.match(line.text) for line in comments):
            yield from document.finished(on_bad_row)
            document = _UnfinishedDocument(document.fields)
        document.fields = entity_fields(comments) or document.fields
        if len(comments) < len(block):
            document.add([line for line in block if not line.text.startswith("#")])
    yield from document.finished(on_bad_row)


@dataclass
class _UnfinishedDocument:
    """A document during reading; `fields` names the fields of its mentions, from its header.

    `runs` are its sentences, split where one is bad, and `faults` the errors of bad sentences.
    """

    fields: tuple[str, ...] = ()
    runs: list[list[Sentence]] = field(default_factory=lambda: [[]])
    faults: list[BadCorpus] = field(default_factory=list)
    entities: Entities = field(default_factory=Entities)

    def add(self, lines: list[Line]) -> None:
        try:
            rows, ranges, nodes = _rows(lines)
            sentence = _sentence(rows, ranges)
        except BadCorpus as error:
            self.faults.append(error.with_traceback(None))  # which holds its lines
            self.runs.append([])
        else:
            self.runs[-1].append(sentence)
            for row, is_word in nodes:
                value = row.misc.get("Entity", "")
                self.entities.add(value, row.line, fields=self.fields, is_word=is_word)

    def finished(self, on_bad_row: OnBadRow) -> Iterator[Document]:
        try:
            if self.entities.are_there:
                yield self._with_coreference()
                return
        except UnreadCoreference as error:
            on_bad_row(error)
        for run, fault in zip_longest(self.runs, self.faults):
            if run:
                yield Document(tuple(run), heads_by=_heads_by(run))
            if fault is not None:
                on_bad_row(fault)

    def _with_coreference(self) -> Document:
        """Return the whole document.

        Raises:
            UnreadCoreference: a sentence is bad, or `Entities.mentions` raises it.
        """
        if self.faults:
            raise UnreadCoreference(self.faults[0])
        return Document(
            tuple(self.runs[0]),
            self.entities.mentions(self.runs[0]),
            bears_coreference=True,
            heads_by=_heads_by(self.runs[0]),
            mentions_without_words=self.entities.n_without_words,
        )


def _heads_by(sentences: list[Sentence]) -> Literal["tree", "tag"]:
    """Return "tree" or "tag": the source of mention heads."""
    return "tree" if all(sentence.governors is not None for sentence in sentences) else "tag"


class _Row(NamedTuple):
    line: Line
    form: str
    part_of_speech: str
    features: str
    governor: str
    relation: str
    misc: dict[str, str]


class _Range(NamedTuple):
    """A token of several words, from place `first` up to but not including `end`."""

    first: int
    end: int
    row: _Row


def _rows(lines: list[Line]) -> tuple[list[_Row], list[_Range], list[tuple[_Row, bool]]]:
    """The words of a sentence, the tokens that hold several of them, and its words and empty nodes
    in their order, each with whether it is a word."""
    words: list[_Row] = []
    ranges: list[_Range] = []
    nodes: list[tuple[_Row, bool]] = []
    for line in lines:
        identity, row = _read(line)
        match = _ID.fullmatch(identity)
        if not match:
            raise line.refused(f"ID is {shown(identity)}; it must be 3, 3-4 or 3.1, counted from 1")
        number, mark = int(match[1]), match[2]
        if mark != "-":
            nodes.append((row, mark is None))
        if mark == "-":
            _check_range(number, int(match[3]), len(words), line=line)
            ranges.append(_Range(number - 1, int(match[3]), row))
        elif mark is None:
            if number != len(words) + 1:
                raise line.refused(
                    f"ID is {number} where {len(words) + 1} is due; number the words of a sentence "
                    "from 1, with a blank line before the next"
                )
            words.append(row)
    if not words:
        raise lines[0].refused("this sentence holds no word; leave it out")
    if ranges and ranges[-1].end > len(words):
        raise ranges[-1].row.line.refused(
            f"this token reaches to word {ranges[-1].end} of {len(words)}; mend its ID"
        )
    return words, ranges, nodes


def _read(line: Line) -> tuple[str, _Row]:
    columns = line.text.split("\t")
    if len(columns) != N_COLUMNS:
        raise line.refused(
            f"{len(columns)} column(s) with tabs between, not the {N_COLUMNS} of CoNLL-U; "
            f"write {_ABSENT} for what is not known"
        )
    identity, form, _, upos, _, features, governor, relation, _, misc = columns
    if not form.strip() and "." not in identity:
        raise line.refused(f"FORM is {shown(form)}; give the word")
    pairs = (entry.partition("=") for entry in misc.split("|"))
    known = {key: value for key, _, value in pairs}
    return identity, _Row(line, form, upos, features, governor, relation, known)


def _check_range(number: int, end: int, n_words: int, *, line: Line) -> None:
    if number != n_words + 1 or end <= number:
        raise line.refused(
            f"ID is {number}-{end}; a token of several words stands before the first of them, "
            f"here from {n_words + 1} on"
        )


def _sentence(rows: list[_Row], ranges: list[_Range]) -> Sentence:
    lines, forms = [row.line for row in rows], tuple(row.form for row in rows)
    check_words(forms, lines[0])
    governors = checked_governors([row.governor for row in rows], lines)
    return Sentence(
        forms=forms,
        spaces=_spaces(rows, ranges),
        governors=governors,
        relations=None if governors is None else tuple(map(_relation, rows)),
        parts_of_speech=tuple(_known(row.part_of_speech) for row in rows),
        features=tuple(_known(row.features) for row in rows),
        first=lines[0],
        last=lines[-1],
    )


def _spaces(rows: list[_Row], ranges: list[_Range]) -> tuple[bool, ...]:
    """After which words a space stands; within a token only where its words do not spell it."""
    spaces = [row.misc.get("SpaceAfter") != "No" for row in rows]
    for first, end, token in ranges:
        spelt = "".join(row.form for row in rows[first:end]) == token.form
        spaces[first : end - 1] = [not spelt] * (end - 1 - first)
        spaces[end - 1] = token.misc.get("SpaceAfter") != "No"
    return tuple(spaces)


def _relation(row: _Row) -> str:
    if row.relation in {_ABSENT, ""}:
        raise row.line.refused(
            f"DEPREL is {shown(row.relation)} but HEAD is given; name the relation"
        )
    return row.relation


def _known(column: str) -> str:
    return "" if column == _ABSENT else column
