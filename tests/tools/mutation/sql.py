"""Mutants of the SQL inside a module, which to a mutator of Python is one string."""

import ast
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CHANGES = (
    (r"\bsum\(", "avg("),
    (r"\bf?avg\(", "sum("),
    (r"\bmin\(", "max("),
    (r"\bmax\(", "min("),
    (r"\bsqrt\(", "("),
    (r"\babs\(", "("),
    (r"_pop\(", "_samp("),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " / "),
    (r" / ", " * "),
    (r" >= ", " > "),
    (r" <= ", " < "),
    (r" > ", " >= "),
    (r" < ", " <= "),
    (r" = ", " <> "),
    (r" <> ", " = "),
    (r" and ", " or "),
    (r" or ", " and "),
    (r"\bnot ", ""),
    (r"\bis null\b", "is not null"),
    (r"\b(left|full) join ", "join "),
    (r"\bdistinct ", ""),
    (r" desc\b", ""),
    (r"\bcoalesce\(([^,()]+), [^()]+\)", r"\1"),
    (r"(?<![\w.$])(\d+)(?![\w.])", lambda match: str(int(match[1]) + 1)),
)
"""What is looked for in a query, and what stands there instead."""
_IS_SQL = re.compile(
    r"\b(select |from \w+|where [\w.]+ [=<>]|group by|having |filter \(|sum\(|avg\(|over \()"
)
_PROJECT = ("analysis", "precompute", "pages", "tests", "app")
_TIME_LIMIT = 300


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Every changed line and the whole text with it, the first change first."""
    lines = source.splitlines(keepends=True)
    for row, start, end in _queries(source, lines):
        line = lines[row]
        for pattern, instead in CHANGES:
            for match in re.compile(pattern).finditer(line, start, end):
                there = match.expand(instead) if isinstance(instead, str) else instead(match)
                changed = line[: match.start()] + there + line[match.end() :]
                yield changed.strip(), "".join([*lines[:row], changed, *lines[row + 1 :]])


def _queries(source: str, lines: list[str]) -> Iterator[tuple[int, int, int]]:
    """The lines of strings that hold SQL, with where in the line it begins and ends."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    joined = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    parts = {id(part) for node in joined for part in ast.walk(node) if part is not node}
    texts = (node for node in nodes if isinstance(node, ast.expr) and _is_text(node))
    for node in texts:
        text = ast.get_source_segment(source, node) or ""
        if id(node) in docstrings | parts or not _IS_SQL.search(text):
            continue
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        for row in range(first, last + 1):
            start = node.col_offset if row == first else 0
            yield row, start, (node.end_col_offset or 0) if row == last else len(lines[row])


def _is_text(node: ast.expr) -> bool:
    is_constant = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_constant or isinstance(node, ast.JoinedStr)


def survives(tests: list[str], folder: Path) -> bool:
    """Return True if all tests pass in a copy of the project, in a process without another copy."""
    child = os.fork()
    if not child:
        os._exit(_tested(tests, folder))
    return os.waitpid(child, 0)[1] == 0


def _tested(tests: list[str], folder: Path) -> int:
    signal.alarm(_TIME_LIMIT)  # which ends the process: a mutant that never ends is dead
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    for name in [name for name in sys.modules if name.partition(".")[0] in _PROJECT]:
        del sys.modules[name]
    os.chdir(folder)
    sys.path[:] = [str(folder), *(path for path in sys.path if path not in ("", str(_ROOT)))]
    settings = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not shared_data"]
    return int(pytest.main([*settings, "--rootdir=.", *tests]))


_ROOT = Path(__file__).parents[3]
