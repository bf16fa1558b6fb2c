"""The notebook and the Python of the documentation run as they stand, on a small file."""

import ast
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.docs.written import blocks, everywhere, text_of
from tests.shared_store import shared_store


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


def test_the_notebook_is_kept_without_results_and_runs_from_top_to_bottom(store, monkeypatch):
    notebook = json.loads(text_of("docs/reading_a_file.ipynb"))
    cells = notebook["cells"]
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    known: dict[str, object] = {}
    for source in code:
        shown = run_cell(source, known)
        assert isinstance(shown, pd.DataFrame), source
        assert len(shown), f"{source} shows nothing"
    monkeypatch.setenv("MIXSCOPE_FILE", str(store))
    monkeypatch.chdir(store.parents[2])
    assert isinstance(run_cell(code[0], {}), pd.DataFrame), "or the file that is asked for"


def test_every_block_of_python_runs(store, capsys):
    programs = [code for _, code in everywhere(lambda text: blocks(text, "python"))]
    assert programs, "this test could not have failed"
    for code in programs:
        run_cell(code, {})
    assert "comma_period" in capsys.readouterr().out
