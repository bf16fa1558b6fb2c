"""Code in the documentation: commands, queries, names and paths."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from docs.contract import contract, definitions

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").glob("*.md"))
PROGRAMS = {".", "apt-get", "git", "make", "mixscope", "pip", "pre-commit", "python", "streamlit"}
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")
_QUERY = re.compile(r"(?:from|select|with)\s")
_NAME = re.compile(r"[a-z]+(?:_[a-z0-9]+)+")
_PATH = re.compile(r"[\w.-]+(?:/[\w.<>*-]+)+/?")


def text_of(path: str) -> str:
    """Return the text of a file of the project."""
    return (ROOT / path).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return [body for named, body in _BLOCK.findall(text) if named == language]


def languages(text: str) -> list[str]:
    """The language of every fenced block."""
    return [named for named, _ in _BLOCK.findall(text)]


def inline(text: str) -> list[str]:
    """Everything in backticks outside of fenced blocks, on one line each."""
    return [" ".join(code.split()) for code in _CODE.findall(_BLOCK.sub("", text))]


def commands(text: str) -> list[str]:
    """Every line of a shell block, and inline code that names a program and what to do."""
    joined = (re.sub(r"\\\n\s*", "", block) for block in blocks(text, "sh"))
    lines = [line for block in joined for line in block.splitlines() if line.strip()]
    named = [code for code in inline(text) if " " in code and code.split()[0] in PROGRAMS]
    return [re.sub(r"\s+#\s.*", "", line) for line in lines] + named


def options(text: str) -> list[str]:
    """Inline code that is an option of the command line, with its value if it has one."""
    return [code for code in inline(text) if code.startswith("--")]


def queries(text: str) -> list[str]:
    """Every statement of an SQL block, and inline code that is a query."""
    statements = [statement for block in blocks(text, "sql") for statement in block.split(";")]
    written = [*statements, *(code for code in inline(text) if _QUERY.match(code))]
    return [" ".join(query.split()) for query in written if query.strip()]


def names(text: str) -> list[str]:
    """Inline code that is a name in snake case: of a view, a column, a statistic, a fact."""
    return [code for code in inline(text) if _NAME.fullmatch(code)]


def paths(text: str, folders: set[str]) -> list[str]:
    """Inline code that is a path below one of the folders."""
    codes = [code for code in inline(text) if _PATH.fullmatch(code)]
    return [path for path in codes if path.split("/")[0] in folders]


def everywhere(find: Callable[[str], list[str]]) -> Iterator[tuple[str, str]]:
    """Yield matches on all pages, including the generated ones, each with the name of its page."""
    texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    generated = {"contract.md": contract(), "definitions.md": definitions()}
    for name, text in (texts | generated).items():
        yield from ((name, code) for code in find(text))
