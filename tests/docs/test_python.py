"""The notebook and the Python of the documentation run as they stand, on a small file."""

import ast
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.docs.written import ROOT, blocks, everywhere
from tests.shared_store import shared_store

NOTEBOOK = ROOT / "docs" / "reading_a_file.ipynb"


@pytest.fixture
def store(tmp_path_factory, tmp_path, monkeypatch) -> Path:
    """A file where the pages look for that of the demo."""
    file = tmp_path / "statistics" / "demo.duckdb"
    file.parent.mkdir()
    shutil.copy(shared_store(tmp_path_factory, annotated=True), file)
    monkeypatch.chdir(tmp_path)
    return file


def run_cell(source: str, known: dict[str, object]) -> object:
    """Value of the last line of a cell, as a notebook shows it."""
    *before, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        exec(compile(source, "cell", "exec"), known)
        return None
    exec(compile(ast.Module(before, []), "cell", "exec"), known)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), known)


def code_cells() -> list[str]:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_the_notebook_runs_from_top_to_bottom(store):
    known: dict[str, object] = {}
    for source in code_cells():
        shown = run_cell(source, known)
        assert isinstance(shown, pd.DataFrame), source
        assert len(shown), f"{source} shows nothing"


def test_the_notebook_reads_the_file_that_is_asked_for(store, monkeypatch, tmp_path):
    monkeypatch.setenv("MIXSCOPE_FILE", str(store))
    monkeypatch.chdir(tmp_path.parent)
    shown = run_cell(code_cells()[0], {})
    assert isinstance(shown, pd.DataFrame)


def test_the_notebook_is_kept_without_results():
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_every_block_of_python_runs(store, capsys):
    programs = [code for _, code in everywhere(lambda text: blocks(text, "python"))]
    assert programs, "this test could not have failed"
    for code in programs:
        run_cell(code, {})
    assert "comma_period" in capsys.readouterr().out
