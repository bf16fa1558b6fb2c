"""The site builds, its links lead somewhere, its Python runs, and its models are read."""

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from tests.analysis.models.test_every_type import READ
from tests.docs.written import PAGES, ROOT, blocks, everywhere, paths, text_of
from tests.shared_store import shared_store

LINK = re.compile(r"\]\(([^)#\s]+)")
MOST_BYTES = 6_000


def test_the_site_builds_without_a_warning_and_fetches_nothing_from_elsewhere(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    site = tmp_path / "site"
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(site)))
    pages = {page.name: page.read_text(encoding="utf-8") for page in site.glob("*.html")}
    named = {f"{page.stem}.html" for page in (ROOT / "docs").glob("*.md")}
    assert named | {"contract.html"} <= set(pages)
    assert not list(site.glob("*.py"))
    fetched = re.compile(r"<(?:link|script|img)[^>]+(?:href|src)=\"?https?://")
    assert not [name for name, text in pages.items() if fetched.search(text)]


def test_links_outside_the_site_lead_somewhere_and_the_readme_is_short():
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        links = LINK.findall(text_of(name))
        assert links, "this test could not have failed"
        for link in links:
            assert link.startswith("https://") or (ROOT / link).is_file(), link
    assert len((ROOT / "README.md").read_bytes()) <= MOST_BYTES
    assert all(f"\nmake {target} " in text_of("README.md") for target in ("demo", "test"))
    index = {link.removesuffix(".md") for link in LINK.findall(text_of("docs/index.md"))}
    stems = {page.stem for page in PAGES if page.parent.name == "docs"}
    assert stems - {"index"} <= index, "no page is left behind"


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, text=True, capture_output=True
    )
    return listed.stdout.splitlines()


def test_every_path_exists():
    folders = {name.split("/")[0] for name in tracked() if "/" in name}
    uses = set(everywhere(lambda text: paths(text, folders)))
    assert len(uses) > 25, "this test could not have failed"
    assert not [(page, path) for page, path in uses if not _exists(path)]
    assert not _exists("analysis/models/<family>.rs"), "this test could not have failed"


def _exists(path: str) -> bool:
    return any(ROOT.glob(re.sub(r"<\w+>", "*", path.rstrip("/"))))


TYPES = {
    **{"data2vec": "data2vec-text", "DeBERTa 3": "deberta-v2", "Gemma 3": "gemma3_text"},
    **{"DeepSeek 2": "deepseek_v2", "DeepSeek 3": "deepseek_v3", "DINOv3": "dinov3_vit"},
    **{"CLIP": "clip_vision_model", "SigLIP": "siglip_vision_model"},
}
"""Types of models with another name than their own."""


def test_every_model_that_the_guide_to_running_names_is_read_and_proved():
    table = text_of("docs/running.md").partition("| kind | such as |")[2].partition("\n\n")[0]
    rows = [row.split(" | ")[1].strip(" |") for row in table.splitlines()[2:]]
    named = {name for row in rows for name in row.split(", ")}
    assert len(named) > 60
    letters = lambda name: re.sub(r"[\W_]", "", name).lower()  # noqa: E731
    read = {letters(name) for name in READ}
    assert not [name for name in named if letters(TYPES.get(name, name)) not in read]


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


def test_the_notebook_is_kept_without_results_and_runs_from_top_to_bottom(store):
    notebook = json.loads(text_of("docs/reading_a_file.ipynb"))
    cells = notebook["cells"]
    assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    known: dict[str, object] = {}
    for source in code:
        shown = run_cell(source, known)
        assert isinstance(shown, pd.DataFrame), source
        assert len(shown), f"{source} shows nothing"


def test_every_block_of_python_runs(store, capsys):
    programs = [code for _, code in everywhere(lambda text: blocks(text, "python"))]
    assert programs, "this test could not have failed"
    for code in programs:
        run_cell(code, {})
    assert "comma_period" in capsys.readouterr().out
