"""Governors of a sentence as a treebank writes them, checked to be a tree."""

from collections.abc import Sequence as SequenceOf

from precompute.corpora.annotated.annotation import ROOT
from precompute.corpora.lines import Line
from precompute.corpora.wording import shown

_ABSENT = "_"
_LONGEST_CIRCLE = 10  # words named one by one in the message


def checked_governors(columns: SequenceOf[str], lines: SequenceOf[Line]) -> tuple[int, ...] | None:
    """The place of each word's governor, from ids that count from 1 with 0 for the root.

    None if no word has one: `_` throughout.

    Raises:
        BadCorpus: a governor is no word of the sentence, is missing, is the word itself; there is
            no root or there are several; or some words govern each other in a circle.
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
