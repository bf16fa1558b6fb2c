"""Matching of brackets around mentions along the words of a document."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from analysis.errors import BadCorpus
from precompute.corpora.lines import Line
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
    """Yield the brackets in one column, from left to right: `(1(2)`, `3)` or `(1|3)`.

    Raises:
        BadCorpus: something in it is no bracket.
    """
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


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def clusters(brackets: Iterable[_Named]) -> dict[str, int]:
    """Number each name that occurs more than once; single mentions have no number."""
    n_of = Counter(bracket.name for bracket in brackets)
    return {name: number for number, name in enumerate(n for n in n_of if n_of[n] > 1)}


@dataclass
class Brackets:
    """The brackets of one document. Brackets of one name close the last opened first."""

    _open: dict[str, list[tuple[int, str, Line]]] = field(default_factory=lambda: defaultdict(list))
    _found: list[Bracketed] = field(default_factory=list)

    _n_open: int = 0

    def opens(self, name: str, word: int, line: Line, *, label: str = "") -> None:
        """Open a bracket.

        Raises:
            BadCorpus: too many are open; time would grow with their square.
        """
        self._n_open += 1
        if self._n_open > MOST_OPEN:
            raise line.refused(f"more than {MOST_OPEN} mentions are open at once; close them")
        self._open[name].append((word, label, line))

    def closes(self, name: str, word: int, line: Line) -> None:
        """Close a bracket.

        Raises:
            BadCorpus: none of that name is open.
        """
        if not self._open[name]:
            raise line.refused(f"{shown(f'{name})')} closes what is not open; open it with ({name}")
        first, label, _ = self._open[name].pop()
        self._n_open -= 1
        self._found.append(Bracketed(first, word, name, label))

    def all_closed(self) -> list[Bracketed]:
        """Return all brackets in the order of the words, the longer first, without duplicates.

        Raises:
            BadCorpus: a bracket is still open.
        """
        for name, waiting in self._open.items():
            for _, _, line in waiting:
                raise line.refused(f"{shown(f'({name}')} is never closed; close it with {name})")
        return sorted(
            set(self._found), key=lambda bracket: (bracket.first, -bracket.last, bracket.name)
        )
