"""Rows of a corpus: checks of what they hold; those that cannot be used are named as they are met,
left out and counted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar
from unicodedata import category

from analysis.errors import BadCorpus, UserError
from precompute.corpora.wording import shown

LINES = 20
"""Number of a kind that are named one by one."""
ONE_IN = 100
"""Malformed rows are allowed up to one in this number, and one in any case."""
_NO_ENTRY = {
    "too_long": "none of its sentences fits into --max-tokens; give a larger number there",
    "too_short": "all its documents are too short to be packed; use --packing paragraphs",
}
Row = TypeVar("Row")
Read = TypeVar("Read")


class BlankRow(BadCorpus):
    """A row without any text, as sound corpora have them too."""


class UnreadCoreference(BadCorpus):
    """Coreference of a document that cannot be read, whose sentences can."""

    def __init__(self, error: BadCorpus):
        UserError.__init__(self, str(error))


@dataclass
class LeftOut:
    """Counts by kind (`images`, `masks`, `blank_rows`, `malformed_rows`), and the first of each;
    and `notes`, the reasons that documents lost their coreference.

    A row is a line, a row of a table, a sentence of a treebank or a document with coreference.
    """

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, BadCorpus] = field(default_factory=dict)
    n_rows: int = 0
    notes: set[str] = field(default_factory=set)

    def add(self, kind: str, error: BadCorpus) -> None:
        """Count one more of a kind; print it if it is among the first."""
        self.first.setdefault(kind, error)
        self.counts[f"{kind}_left_out"] += 1
        if self.counts[f"{kind}_left_out"] <= LINES:
            print(f"Left out: {error}.")

    def add_row(self, error: BadCorpus) -> None:
        """Count one more row that is blank or malformed, or whose coreference alone is lost.

        Raises:
            UserError: the first `ONE_IN` rows are all malformed, as where the whole file is.
        """
        if isinstance(error, UnreadCoreference):
            note = str(error)
            self.counts["coreference_left_out"] += 1
            if note not in self.notes and len(self.notes) < LINES:
                self.notes.add(note)
                print(f"Left out, the coreference of a document: {note}.")
            return
        self.n_rows += 1
        self.add("blank_rows" if isinstance(error, BlankRow) else "malformed_rows", error)
        if self.counts["malformed_rows_left_out"] == self.n_rows >= ONE_IN:
            raise self._too_many()

    def usable(
        self,
        rows: Iterable[Row | BadCorpus],
        read: Callable[[Row], Read],
        n_rows: Callable[[Read], int] = lambda _: 1,
    ) -> Iterator[Read]:
        """Yield and count what is read of each row; leave out rows that are or raise errors."""
        for row in rows:
            try:
                if isinstance(row, BadCorpus):
                    raise row
                found = read(row)
            except BadCorpus as error:
                self.add_row(error)
            else:
                self.n_rows += n_rows(found)
                yield found

    def at_least_one(self, entries: Iterator[Read], corpus: str) -> Iterator[Read]:
        """Yield the entries of a corpus.

        Raises:
            BadCorpus: after the last, that there is none.
            UserError: after the last, that too many rows are malformed.
        """
        first = next(entries, None)
        if first is not None:
            yield first
            yield from entries
        self.report_rest()
        if self.counts["malformed_rows_left_out"] > max(1, self.n_rows / ONE_IN):
            raise self._too_many()
        if first is None:
            reasons = (why for count, why in _NO_ENTRY.items() if self.counts[count])
            reason = next(reasons, "holds no sequence; give a file that holds some text")
            raise self.first.get("malformed_rows", BadCorpus(corpus, reason))

    def report_rest(self) -> None:
        """Print the number of left-out rows beyond the named ones."""
        rest = sum(max(self.counts[f"{kind}_left_out"] - LINES, 0) for kind in self.first)
        if rest:
            print(f"Left out: {rest} more.")

    def _too_many(self) -> UserError:
        n = self.counts["malformed_rows_left_out"]
        return UserError(
            f"{self.first['malformed_rows']}. It is the first of {n} malformed rows among "
            f"{self.n_rows}; more than 1 in {ONE_IN} are too many to be left out."
        )


_UNSEEN = ("Cc", "Cf")  # control and format characters, such as a zero-width space


def is_blank(text: str) -> bool:
    """Return True if a text has no visible character."""
    return all(letter.isspace() or category(letter) in _UNSEEN for letter in text)


def checked_text(value: object, *, key: str, place: str) -> str:
    """Return the value if it is a valid text; a `BlankRow` is raised for one without letters."""
    if value is None:
        raise BlankRow(place, f"`{key}` is null; it must hold some text")
    if not isinstance(value, str):
        raise BadCorpus(place, f"`{key}` is {shown(value)}; it must be a string")
    if is_blank(value):
        raise BlankRow(place, f"`{key}` is {shown(value)}; it must hold some text")
    _refuse_surrogates(value, key=key, place=place)
    return value


def checked_tokens(value: object, *, place: str) -> tuple[str, ...]:
    """Return the value as a tuple, if it is a list of at least one token."""
    if not isinstance(value, list):
        raise BadCorpus(place, f"`tokens` is {shown(value)}; it must be a list of strings")
    if not value:
        raise BlankRow(place, "`tokens` is empty; it must hold at least one token")
    for position, token in enumerate(value, start=1):
        if not isinstance(token, str) or not token:
            raise BadCorpus(
                place, f"token {position} is {shown(token)}; each token must be a string, not empty"
            )
        _refuse_surrogates(token, key=f"token {position}", place=place)
    return tuple(value)


def checked_segments(value: object, *, n_tokens: int, place: str) -> tuple[int, ...]:
    """Return the value as a tuple, if it is a list of one segment id for each token."""
    if not isinstance(value, list):
        raise BadCorpus(place, f"`segments` is {shown(value)}; it must be a list of integers")
    if len(value) != n_tokens:
        raise BadCorpus(
            place, f"{n_tokens} token(s) but {len(value)} segment id(s); give one for each token"
        )
    for position, segment in enumerate(value, start=1):
        if type(segment) is not int or segment < 0:  # True is an int to isinstance
            raise BadCorpus(
                place, f"segment id {position} is {shown(segment)}; it must be an integer from 0 on"
            )
    return tuple(value)


def check_some_tokens(n_tokens: int, text: str, *, place: str) -> None:
    """Raise BadCorpus if a tokenizer returned no token for a text."""
    if not n_tokens:
        raise BadCorpus(place, f"the tokenizer makes no token of {shown(text)}; leave it out")


def check_length(n_tokens: int, positions: int, *, place: str) -> None:
    """Raise BadCorpus if given tokens do not fit into the model."""
    if n_tokens > positions:
        raise BadCorpus(
            place, f"{n_tokens} tokens, but the model reads at most {positions}; make it shorter"
        )


def _refuse_surrogates(text: str, *, key: str, place: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadCorpus(
            place,
            f"`{key}` holds {shown(text[error.start])}, half of a UTF-16 pair and no character "
            "by itself; write the text anew as UTF-8",
        ) from error
