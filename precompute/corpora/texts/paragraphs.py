"""Plain text: one paragraph or sentence per line, blank lines between documents."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from precompute.corpora.checks import is_blank
from precompute.corpora.lines import Line, numbered_lines


def documents(path: Path) -> Iterator[list[Line]]:
    """Yield groups of lines between blank lines, in the file's order: one group is one document.

    Raises:
        BadCorpus: a line is not UTF-8.
    """
    runs = groupby(numbered_lines(path), key=lambda line: is_blank(line.text))
    return (list(lines) for blank, lines in runs if not blank)
