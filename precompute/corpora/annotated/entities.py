"""Mentions in the MISC column of CoNLL-U: `Entity=` as GUM and CorefUD write it.

A comment names what each opening bracket says, such as `# global.Entity = GRP-etype-…-link-…`.
"""

import re
from collections.abc import Iterable
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field

from precompute.corpora.annotated.annotation import ROOT, Mention
from precompute.corpora.annotated.brackets import Bracketed, Brackets, bracket_items, clusters
from precompute.corpora.annotated.documents import Sentence
from precompute.corpora.annotated.mention_heads import head_by_tag, head_by_tree, kind_by_tag
from precompute.corpora.lines import Line

_HEADER = re.compile(r"#\s*global\.Entity\s*=\s*(\S+)")
_PART = re.compile(r"\[[0-9]+/[0-9]+\]")
_CLUSTER = ("GRP", "eid")
_HEAD = ("minspan", "head")
_NO_MENTIONS = frozenset({"appos", "pred", "sgl"})
"""Links of GUM that the coreference of OntoNotes does not know: appositions belong to the mention
they explain, what is predicated of a thing is no mention of it, and what is mentioned once has
nothing to corefer with."""


def entity_fields(comments: Iterable[Line]) -> tuple[str, ...]:
    """The fields of a document's mentions, as one of its comments names them; () if none does.

    Raises:
        BadCorpus: they do not show which mentions corefer.
    """
    for line in comments:
        if match := _HEADER.match(line.text):
            fields = tuple(match[1].split("-"))
            if fields[0] not in _CLUSTER:
                raise line.refused(
                    f"the first field of `global.Entity` is {fields[0]!r}; it must name the "
                    "entity: GRP or eid"
                )
            return fields
    return ()


@dataclass
class Entities:
    """The mentions of one document, as its words are read."""

    _brackets: Brackets = field(default_factory=Brackets)
    _fields: tuple[str, ...] = ()
    are_there: bool = False

    def read(self, value: str, word: int, line: Line, *, fields: tuple[str, ...]) -> None:
        """What the `Entity=` of one word opens and closes.

        Raises:
            BadCorpus: it is no run of brackets, closes what is not open, or no comment names its
                fields.
        """
        if not fields:
            raise line.refused(
                "`Entity=` before any comment `# global.Entity = …` that names its fields; add it "
                "at the head of the document"
            )
        self.are_there, self._fields = True, fields
        for kind, text in bracket_items(value, place=line.place):
            name = _PART.sub("", text if kind == "closes" else text.split("-", 1)[0])
            if kind != "closes":
                self._brackets.opens(name, word, line, label=text)
            if kind != "opens":
                self._brackets.closes(name, word, line)

    def mentions(self, sentences: SequenceOf[Sentence]) -> tuple[Mention, ...]:
        """The mentions that corefer with another one of the document.

        Discontinuous ones (`[1/2]`) are none.

        Raises:
            BadCorpus: one is never closed.
        """
        brackets = [
            bracket
            for bracket in self._brackets.all_closed()
            if not _PART.search(bracket.label)
            and self._attribute(bracket, "link") not in _NO_MENTIONS
        ]
        cluster_of = clusters(brackets)
        words = _Words(sentences)
        return tuple(
            words.mention(bracket, cluster_of[bracket.name], preferred=self._heads(bracket))
            for bracket in brackets
            if bracket.name in cluster_of
        )

    def _attribute(self, mention: Bracketed, *names: str) -> str:
        """What a mention's opening bracket says under one of these names; empty if nothing."""
        fields = dict(
            zip(self._fields, mention.label.split("-", len(self._fields) - 1), strict=False)
        )
        return next((fields[name] for name in names if name in fields), "")

    def _heads(self, mention: Bracketed) -> list[int]:
        places = self._attribute(mention, *_HEAD).split(",")
        return [mention.first + int(place) - 1 for place in places if place.isdigit()]


class _Words:
    """The words of a document, one sentence after the other."""

    def __init__(self, sentences: SequenceOf[Sentence]):
        self._parts = [part for sentence in sentences for part in sentence.parts_of_speech]
        self._governors: list[int] = []
        self._has_trees = all(sentence.governors is not None for sentence in sentences)
        for sentence in sentences:
            start = len(self._governors)
            governors = sentence.governors or (ROOT,) * len(sentence)
            self._governors += [ROOT if g == ROOT else start + g for g in governors]

    def mention(self, bracket: Bracketed, cluster: int, *, preferred: list[int]) -> Mention:
        first, last = bracket.first, bracket.last
        if self._has_trees:
            head = head_by_tree(first, last, self._governors, preferred=preferred)
        else:
            heads = [word for word in preferred if first <= word <= last]
            head = heads[0] if heads else head_by_tag(first, last, self._parts)
        return Mention(first, last, head, cluster, kind_by_tag(self._parts[head]))
