"""Mentions along the words of a document: their brackets, their head words, and their kinds.

A tree shows the head. Without one, the head is the last noun before the words that follow the core
(`of …`, `, who …`), found by parts of speech, or by a list of words if these are unknown. Against
the trees of GUM, with the mentions of OntoGUM, the two rules find the head in 92% and 91% of the
mentions and the kind in 98% and 95%. Most of the others are names: a treebank makes the first word
the head, the rules the last. The lists are English: in other languages the last word is the head,
and capital letters alone mark names.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from analysis.errors import BadCorpus
from precompute.corpora.annotated.annotation import MentionKind
from precompute.corpora.source import Line
from precompute.corpora.wording import shown

_ITEM = re.compile(r"\|?(?:\(([^()|]+)\)|\(([^()|]+)|([^()|]+)\))")
Kind = Literal["whole", "opens", "closes"]
MOST_OPEN = 500
_KINDS: tuple[Kind, ...] = ("whole", "opens", "closes")


class Bracketed(NamedTuple):
    """Words from `first` to `last`; `name` identifies the bracket, `label` the rest of its
    opening."""

    first: int
    last: int
    name: str
    label: str


def bracket_items(value: str, *, place: str) -> Iterator[tuple[Kind, str]]:
    """Yield the brackets in one column, from left to right: `(1(2)`, `3)` or `(1|3)`."""
    end = 0
    while end < len(value):
        match = _ITEM.match(value, end)
        if not match:
            raise BadCorpus(
                place, f"{shown(value)} is no run of brackets; write (1, 1) or (1), as in (1(2)3)"
            )
        end = match.end()
        group = match.lastindex or 0
        yield _KINDS[group - 1], match[group]


def clusters(names: Iterable[str]) -> dict[str, int]:
    """Number each name that occurs more than once; single mentions have no number."""
    n_of = Counter(names)
    return {name: number for number, name in enumerate(n for n in n_of if n_of[n] > 1)}


@dataclass
class Brackets:
    """The brackets of one document. Brackets of one name close the last opened first."""

    _open: dict[str, list[tuple[int, str, Line]]] = field(default_factory=lambda: defaultdict(list))
    _found: list[Bracketed] = field(default_factory=list)

    _n_open: int = 0

    def opens(self, name: str, word: int, line: Line, *, label: str = "") -> None:
        """Open a bracket."""
        self._n_open += 1
        if self._n_open > MOST_OPEN:
            raise line.refused(f"more than {MOST_OPEN} mentions are open at once; close them")
        self._open[name].append((word, label, line))

    def closes(self, name: str, word: int, line: Line) -> None:
        """Close a bracket."""
        if not self._open[name]:
            raise line.refused(f"{shown(f'{name})')} closes what is not open; open it with ({name}")
        first, label, _ = self._open[name].pop()
        self._n_open -= 1
        self._found.append(Bracketed(first, word, name, label))

    def all_closed(self) -> list[Bracketed]:
        """Return all brackets in the order of the words, the longer first, without duplicates."""
        for name, waiting in self._open.items():
            for _, _, line in waiting:
                raise line.refused(f"{shown(f'({name}')} is never closed; close it with {name})")
        return sorted(
            set(self._found), key=lambda bracket: (bracket.first, -bracket.last, bracket.name)
        )


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NOUNS = _listed("NN NNS NNP NNPS PRP CD FW WP NOUN PROPN PRON NUM")
_AFTER_CORE = _listed(
    ": , . `` '' -LRB- CC EX IN MD RB TO VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB "
    "ADP ADV AUX CCONJ PUNCT SCONJ VERB"
)
_PRONOUN_TAGS = _listed("PRON PRP PRP$ WP WP$ DT EX")
_PROPER_TAGS = _listed("PROPN NNP NNPS")
_PRONOUNS = _listed(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his "
    "himself she her hers herself it its itself they them their theirs themselves themself this "
    "that these those who whom whose which oneself"
)
_AFTER_CORE_WORDS = _listed(
    "about after against among and around as at before between by during for from in including "
    "into like near of on or over since than that through to under when where which who whom whose "
    "with within without"
)
_POSSESSIVE = frozenset({"'s", "’s", "'", "’"})
_MARK = re.compile(r"(?!-$|–$)\W+")


def head_by_tree(
    first: int, last: int, governors: SequenceOf[int], *, preferred: SequenceOf[int] = ()
) -> int:
    """The word whose governor stands outside the mention.

    If there are several, the first of them that is preferred, else the first.
    """
    words = range(first, last + 1)
    tops = [word for word in words if governors[word] not in words]
    return next((word for word in preferred if word in tops), tops[0])


def head_by_tag(first: int, last: int, tags: SequenceOf[str]) -> int:
    """Return the last noun before the words that follow the core, by Penn Treebank tags or UPOS."""
    nouns = (word for word in range(first, last + 1) if tags[word] in _NOUNS)
    core = next(nouns, last)
    rest = (word for word in range(core + 1, last + 1) if tags[word] in _AFTER_CORE)
    end = next(rest, last + 1)
    return next((word for word in range(end - 1, core, -1) if tags[word] in _NOUNS), core)


def head_by_word(first: int, last: int, words: SequenceOf[str]) -> int:
    """Return the last word before the words that follow the core, by a list of English words."""
    end = next(
        (
            word
            for word in range(first + 1, last + 1)
            if words[word].lower() in _AFTER_CORE_WORDS
            or (_MARK.fullmatch(words[word]) and words[word] not in _POSSESSIVE)
        ),
        last + 1,
    )
    head = end - 1
    while head > first and words[head].lower() in _POSSESSIVE:
        head -= 1
    return head


def kind_by_tag(tag: str) -> MentionKind:
    """The kind of a mention by the part of speech of its head."""
    if tag in _PRONOUN_TAGS:
        return "pronoun"
    return "proper" if tag in _PROPER_TAGS else "nominal"


def kind_by_word(word: str, *, alone: bool, begins_sentence: bool) -> MentionKind:
    """Return the kind of a mention by its head; sentence-initial capitals show no name.

    Args:
        alone: True if the mention has no other word; pronouns have none.
    """
    if alone and word.lower() in _PRONOUNS:
        return "pronoun"
    return "proper" if word[:1].isupper() and not begins_sentence else "nominal"
