"""CoNLL-U treebanks: one word per line in ten columns, blank lines between sentences.

Words are the syntactic ones: a token of several words, such as `don't`, is read as those words.
Empty nodes and enhanced dependencies are passed over; mentions may begin or end on an empty node.

Differs: the library `conllu` (6.0) cuts a line at two spaces too, takes lines that lack columns,
drops what follows a second `=` in MISC, and knows no line numbers.
"""

import re
from collections.abc import Iterator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

from analysis.errors import BadCorpus
from precompute.corpora.annotated.documents import (
    Document,
    Entities,
    Sentence,
    check_words,
    entity_fields,
)
from precompute.corpora.left_out import UnreadCoreference
from precompute.corpora.sequence import ROOT
from precompute.corpora.source import Line, numbered_lines
from precompute.corpora.wording import shown

N_COLUMNS = 10
_ID = re.compile(r"([0-9]{1,6})(?:([-.])([0-9]{1,6}))?")
_ABSENT = "_"


def conllu_documents(path: Path) -> Iterator[Document | BadCorpus]:
    """Yield the documents of a treebank in its order; without `# newdoc` it is one.

    A sentence that is not CoNLL-U or no tree, or has no words, is an error and splits its document
    in two. Coreference of such a document, or that cannot be read, is one too
    (`UnreadCoreference`): the document's sentences are read without it.
    """
    document = _UnfinishedDocument()
    lines = numbered_lines(path, stripped=False)
    runs = groupby(lines, key=lambda line: bool(line.text.strip()))
    for block in (list(run) for filled, run in runs if filled):
        comments = [line for line in block if line.text.startswith("#")]
        if any(re.match(r"#\s*newdoc\b", line.text) for line in comments):
            yield from document.finished()
            document = _UnfinishedDocument(document.fields)
        document.fields = entity_fields(comments) or document.fields
        if len(comments) < len(block):
            document.add([line for line in block if not line.text.startswith("#")])
    yield from document.finished()


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
            nodes, ranges = _rows(lines)
            sentence = _sentence([row for row, is_word in nodes if is_word], ranges)
        except BadCorpus as error:
            self.faults.append(error.with_traceback(None))  # which holds its lines
            self.runs.append([])
        else:
            self.runs[-1].append(sentence)
            for row, is_word in nodes:
                value = row.misc.get("Entity", "")
                self.entities.add(value, row.line, fields=self.fields, is_word=is_word)

    def finished(self) -> Iterator[Document | BadCorpus]:
        try:
            if self.entities.are_there:
                yield self._with_coreference()
                return
        except UnreadCoreference as error:
            yield error
        for run, fault in zip_longest(self.runs, self.faults):
            if run:
                yield Document(tuple(run), heads_by=_heads_by(run))
            if fault is not None:
                yield fault

    def _with_coreference(self) -> Document:
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


def _rows(lines: list[Line]) -> tuple[list[tuple[_Row, bool]], list[_Range]]:
    """The words and empty nodes of a sentence, each with whether it is a word, and its tokens of
    several words."""
    nodes: list[tuple[_Row, bool]] = []
    ranges: list[_Range] = []
    n_words = 0
    for line in lines:
        identity, row = _read(line)
        match = _ID.fullmatch(identity)
        if not match:
            raise line.refused(f"ID is {shown(identity)}; it must be 3, 3-4 or 3.1, counted from 1")
        number, mark, due = int(match[1]), match[2], n_words + 1
        if mark == "-":
            end = int(match[3])
            if number != due or end <= number:
                raise line.refused(
                    f"ID is {number}-{end}; a token of several words stands before the first of "
                    f"them, here from {due} on"
                )
            ranges.append(_Range(number - 1, end, row))
            continue
        if mark is None and number != due:
            raise line.refused(
                f"ID is {number} where {due} is due; number the words of a sentence "
                "from 1, with a blank line before the next"
            )
        nodes.append((row, mark is None))
        n_words += mark is None
    if not n_words:
        raise lines[0].refused("this sentence holds no word; leave it out")
    if ranges and ranges[-1].end > n_words:
        raise ranges[-1].row.line.refused(
            f"this token reaches to word {ranges[-1].end} of {n_words}; mend its ID"
        )
    return nodes, ranges


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


_LONGEST_CIRCLE = 10  # words named one by one in the message


def checked_governors(columns: SequenceOf[str], lines: SequenceOf[Line]) -> tuple[int, ...] | None:
    """The place of each word's governor, from ids that count from 1 with 0 for the root.

    None if no word has one: `_` throughout.
    """
    if all(column == _ABSENT for column in columns):
        return None
    governors = tuple(
        _governor(column, line, word=word, n_words=len(columns))
        for word, (column, line) in enumerate(zip(columns, lines, strict=True))
    )
    roots = [word for word, governor in enumerate(governors) if governor == ROOT]
    if not roots:
        raise lines[0].refused("no word of this sentence has HEAD 0; give its root that HEAD")
    if len(roots) > 1:
        raise lines[roots[1]].refused(
            f"HEAD is 0, as in line {lines[roots[0]].number}; a sentence has one root: attach the "
            "other, or make two sentences"
        )
    _refuse_cycles(governors, lines)
    return governors


def _governor(column: str, line: Line, *, word: int, n_words: int) -> int:
    number = int(column) if column.isascii() and column.isdigit() and len(column) < 9 else -1
    if not 0 <= number <= n_words:
        raise line.refused(
            f"HEAD is {shown(column)}; it must be the id of a word of the sentence (1 to "
            f"{n_words}), or 0 for the root"
        )
    if number == word + 1:
        raise line.refused(f"HEAD is {shown(column)}, the word itself; give another word")
    return number - 1


def _refuse_cycles(governors: tuple[int, ...], lines: SequenceOf[Line]) -> None:
    safe = {ROOT}
    for start in range(len(governors)):
        path: dict[int, None] = {}  # in its order; a list would be searched again and again
        word = start
        while word not in safe:
            if word in path:
                raise lines[word].refused(
                    f"its HEADs lead in a circle, {_circle([*path], word)}; every word must lead "
                    "to the root"
                )
            path[word] = None
            word = governors[word]
        safe.update(path)


def _circle(path: list[int], word: int) -> str:
    """The way from a word back to itself, in ids, its middle left out if it is long."""
    circle = [*path[path.index(word) :], word]
    shown_ids = [str(place + 1) for place in circle]
    if len(circle) > _LONGEST_CIRCLE:
        shown_ids[_LONGEST_CIRCLE // 2 : -_LONGEST_CIRCLE // 2] = ["…"]
    return " → ".join(shown_ids)
