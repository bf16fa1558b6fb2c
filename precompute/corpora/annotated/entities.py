"""Mentions in the MISC column of CoNLL-U: `Entity=` in the form of GUM and CorefUD.

A comment names the fields of opening brackets, such as `# global.Entity = GRP-etype-…-link-…`. One
of them names the entity; without a comment, the first or second that is a number in every bracket.
"""

import re
from collections.abc import Iterable
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field
from typing import NamedTuple

from analysis.errors import BadCorpus
from precompute.corpora.annotated.annotation import Annotation, Mention
from precompute.corpora.annotated.documents import Sentence, joined
from precompute.corpora.annotated.mentions import (
    Bracketed,
    Brackets,
    bracket_items,
    clusters,
    head_by_tag,
    head_by_tree,
    kind_by_tag,
)
from precompute.corpora.left_out import UnreadCoreference
from precompute.corpora.source import Line
from precompute.corpora.wording import shown

_HEADER = re.compile(r"#\s*global\.Entity\s*=\s*(\S+)")
_PART = re.compile(r"\[[0-9]+/[0-9]+\]")
_CLUSTER = frozenset({"GRP", "eid"})
_NUMBERED = re.compile(r"e?[0-9]+(?:\[[0-9]+/[0-9]+\])?")
_OLDER_NAMES = {"coref_type": "link", "MIN": "minspan"}
_NO_MENTIONS = frozenset({"appos", "pred", "sgl"})
"""Links of GUM that the coreference of OntoNotes lacks: appositions belong to the mention they
explain, predicates of a thing are no mention of it, and single mentions have nothing to corefer
with."""


def entity_fields(comments: Iterable[Line]) -> tuple[str, ...]:
    """The fields of a document's mentions, as one of its comments names them; () if none does."""
    matches = (_HEADER.match(line.text) for line in comments)
    return next((tuple(match[1].split("-")) for match in matches if match), ())


class _Span(NamedTuple):
    """The words of a mention from `first` to `last`, none if `last` is the smaller one, and those
    that its opening bracket names as its head."""

    first: int
    last: int
    name: str
    heads: tuple[int, ...]


@dataclass
class Entities:
    """The mentions of one document, as its words and empty nodes are read.

    Brackets count both; a mention that begins or ends on an empty node holds the words in between.
    """

    _brackets: Brackets = field(default_factory=Brackets)
    _fields: tuple[str, ...] = ()
    _words_before: list[int] = field(default_factory=lambda: [0])
    _values: list[tuple[int, str, Line]] = field(default_factory=list)
    n_without_words: int = 0

    @property
    def are_there(self) -> bool:
        """Return True if the document has brackets, well-formed or not."""
        return bool(self._values)

    def add(self, value: str, line: Line, *, fields: tuple[str, ...], is_word: bool) -> None:
        """Add the `Entity=` of the next word or empty node; empty if it has none."""
        node = len(self._words_before) - 1
        self._words_before.append(self._words_before[node] + is_word)
        if value:
            self._values.append((node, value, line))
            self._fields = fields

    def _match_brackets(self) -> None:
        items = [
            (node, line, kind, text)
            for node, value, line in self._values
            for kind, text in bracket_items(value, place=line.place)
        ]
        place = self._place_of_name([text for *_, kind, text in items if kind != "closes"])
        for node, line, kind, text in items:
            parts = text.split("-")
            if kind != "closes" and len(parts) <= place:
                raise line.refused(f"{shown(text)} lacks field {place + 1}, which names the entity")
            name = _PART.sub("", parts[min(place, len(parts) - 1)])
            if kind != "closes":
                self._brackets.opens(name, node, line, label=text)
            if kind != "opens":
                self._brackets.closes(name, node, line)

    def _place_of_name(self, openings: list[str]) -> int:
        """Return the place of the field that names the entity."""
        if self._fields:
            places = [place for place, name in enumerate(self._fields) if name in _CLUSTER]
        else:
            parts = [opening.split("-") for opening in openings]
            places = [
                place
                for place in (0, 1)
                if all(len(of) > place and _NUMBERED.fullmatch(of[place]) for of in parts)
            ]
        if places:
            return places[0]
        header = f"`# global.Entity = {'-'.join(self._fields)}` names no field GRP or eid, and so"
        raise BadCorpus(
            self._values[0][2].file,
            f"{header if self._fields else 'no comment `# global.Entity = …` is there, and'} "
            "nothing tells which mentions are of one entity; call its field GRP or eid there",
        )

    def mentions(self, sentences: SequenceOf[Sentence]) -> tuple[Mention, ...]:
        """Return the mentions that corefer with another one of the document.

        Discontinuous ones (`[1/2]`) are left out. So are those of empty nodes alone;
        `n_without_words` counts them.

        Raises:
            UnreadCoreference: brackets do not match, or nothing tells which field names the entity.
        """
        try:
            self._match_brackets()
            closed = self._brackets.all_closed()
        except BadCorpus as error:
            raise UnreadCoreference(error) from error
        spans = [
            self._span(bracket)
            for bracket in closed
            if not _PART.search(bracket.label)
            and _NO_MENTIONS.isdisjoint(
                [self._attribute(bracket, "link")] if self._fields else bracket.label.split("-")
            )
        ]
        spans.sort(key=lambda span: (span.first, -span.last, span.name))
        there = [span for span in spans if span.first <= span.last]
        named = clusters(span.name for span in spans)
        self.n_without_words = sum(span.name in named for span in spans if span.last < span.first)
        cluster_of, words = clusters(span.name for span in there), joined(sentences)
        return tuple(
            _mention(words, span, cluster_of[span.name])
            for span in there
            if span.name in cluster_of
        )

    def _span(self, mention: Bracketed) -> _Span:
        """The words of a mention."""
        before, heads = self._words_before, self._heads(mention)
        return _Span(before[mention.first], before[mention.last + 1] - 1, mention.name, heads)

    def _attribute(self, mention: Bracketed, name: str) -> str:
        """Return a field of a mention's opening bracket by its name; empty if it has none."""
        names = (_OLDER_NAMES.get(field, field) for field in self._fields)
        fields = dict(zip(names, mention.label.split("-", len(self._fields) - 1), strict=False))
        return fields.get(name, "")

    def _heads(self, mention: Bracketed) -> tuple[int, ...]:
        """The words that are named as a mention's head: `minspan` counts words from its first on,
        `head` empty nodes as well."""
        before = self._words_before
        if words := self._attribute(mention, "minspan"):
            return tuple(before[mention.first] + place - 1 for place in _places(words))
        nodes = [mention.first + place - 1 for place in _places(self._attribute(mention, "head"))]
        known = (node for node in nodes if 0 <= node < len(before) - 1)
        return tuple(before[node] for node in known if before[node] < before[node + 1])


def _places(listed: str) -> list[int]:
    return [int(place) for place in listed.split(",") if place.isdigit()]


def _mention(words: Annotation, span: _Span, cluster: int) -> Mention:
    first, last, parts = span.first, span.last, words.parts_of_speech
    if words.governors is not None:
        head = head_by_tree(first, last, words.governors, preferred=span.heads)
    else:
        heads = [word for word in span.heads if first <= word <= last]
        head = heads[0] if heads else head_by_tag(first, last, parts)
    return Mention(first, last, head, cluster, kind_by_tag(parts[head]))
