"""Fillers of tables call the formulas that their docstrings cite, and no others."""

import ast
from functools import cache
from pathlib import Path

import pytest

from precompute.passes.filling import modules_of_passes

ROOT = Path(__file__).parents[2]
PASSES = [ROOT / f"{name.replace('.', '/')}.py" for name in modules_of_passes()]
LAYERS = ROOT / "precompute/passes/layers.py"
Definition = ast.FunctionDef | ast.ClassDef


@cache
def definitions(path: Path) -> dict[str, Definition]:
    """Functions and classes at the top level of a file, by name; of `layers` the methods."""
    body = ast.parse(path.read_text()).body
    if path == LAYERS:
        body = [node for owner in body if isinstance(owner, ast.ClassDef) for node in owner.body]
    return {node.name: node for node in body if isinstance(node, Definition)}


@cache
def imported(path: Path, package: str) -> frozenset[str]:
    """Functions and classes that a file imports from a package."""
    nodes = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)]
    names = {a.name for n in nodes if (n.module or "").startswith(package) for a in n.names}
    return frozenset(name for name in names if not name.isupper())


def names_in(node: ast.AST) -> set[str]:
    """Names and attributes that code reads, leaving out its types."""
    types = {"annotation", "returns"}
    parts = [part for field, part in ast.iter_fields(node) if field not in types]
    below = [n for part in parts for n in (part if isinstance(part, list) else [part])]
    found = {getattr(node, "id", ""), getattr(node, "attr", "")}
    return found.union(*(names_in(n) for n in below if isinstance(n, ast.AST)))


def formulas_of(path: Path, name: str) -> set[str]:
    """Formulas that a function or class uses, through its helpers and the layer that it reads."""
    found, waiting, done = set[str](), [(path, name)], set[tuple[Path, str]]()
    while waiting:
        file, current = waiting.pop()
        if (file, current) in done:
            continue
        done.add((file, current))
        used = names_in(definitions(file)[current])
        found |= used & imported(file, "analysis.measures")
        waiting += [(file, other) for other in used & {*definitions(file)}]
        for beside in PASSES:
            others = used & imported(file, f"precompute.passes.{beside.stem}")
            waiting += [(beside, other) for other in others & {*definitions(beside)}]
        waiting += [(LAYERS, other) for other in used & {*definitions(LAYERS)}]
    return found


def cited_by(node: Definition) -> set[str]:
    """Names after `Formula:` in a docstring."""
    _, _, names = (ast.get_docstring(node) or "").partition("Formula:")
    return {name.strip("` .\n") for name in names.partition("\n\n")[0].split(",") if name.strip()}


def is_marked(node: Definition) -> bool:
    return any(ast.unparse(mark).startswith("fills(") for mark in node.decorator_list)


FILLERS = [
    pytest.param(path, name, id=name)
    for path in PASSES
    for name, node in definitions(path).items()
    if is_marked(node)
]


@pytest.mark.parametrize(("path", "name"), FILLERS)
def test_what_fills_a_table_calls_the_formulas_that_its_docstring_cites(path, name):
    assert cited_by(definitions(path)[name]) == formulas_of(path, name)


def test_a_formula_that_is_cited_and_not_called_would_be_seen():
    node = ast.parse('def f():\n    """Rows.\\n\\n    Formula: `one`, `two`.\\n    """').body[0]
    assert isinstance(node, ast.FunctionDef)
    assert cited_by(node) == {"one", "two"}
    assert formulas_of(ROOT / "precompute/passes/norms.py", "head_token") >= {
        "value_norms",
        "attention_received",
    }
