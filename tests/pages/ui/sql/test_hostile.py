"""No query leaves the file, runs for ever or exceeds its memory."""

import hashlib
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copyfile

import pytest

from pages.ui.sql.asking import Answer, Fault, asked

HOSTILE = tomllib.loads(Path(__file__).with_name("hostile.toml").read_text(encoding="utf-8"))
SECRET = "what no question may show"
ORDINARY = "select n_layers from run"


@pytest.fixture(scope="module")
def folder(store_folder, tmp_path_factory) -> Path:
    """A folder with a file, another one, and a text."""
    folder = tmp_path_factory.mktemp("hostile")
    for name in ("own.duckdb", "other.duckdb"):
        copyfile(store_folder / "tiny.duckdb", folder / name)
    (folder / "secret.txt").write_text(SECRET)
    return folder


def questions(kind: str, folder: Path) -> list[str]:
    places = {
        "own": folder / "own.duckdb",
        "other": folder / "other.duckdb",
        "secret": folder / "secret.txt",
        "folder": folder,
    }
    return [question.format(**places) for question in HOSTILE[kind]]


def content(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*")}


def test_no_question_reads_or_writes_anything_but_the_file(folder, monkeypatch):
    monkeypatch.setenv("MIXSCOPE_SECRET", SECRET)
    before = content(folder)
    refused, harmless = (questions(kind, folder) for kind in ("refused", "harmless"))
    assert len(refused) > 150, "this test could not have failed"
    *outcomes, last = asked(str(folder / "own.duckdb"), [*refused, *harmless, ORDINARY])
    assert len(outcomes) == len(refused) + len(harmless)
    answered = zip(refused, outcomes[: len(refused)], strict=True)
    assert not [sql for sql, outcome in answered if isinstance(outcome, Answer)]
    assert not [
        sql
        for sql, outcome in zip([*refused, *harmless], outcomes, strict=True)
        if SECRET in (outcome.message if isinstance(outcome, Fault) else outcome.frame.to_csv())
    ]
    assert content(folder) == before
    assert isinstance(last, Answer)
    assert last.frame["n_layers"].tolist() == [2]


@pytest.mark.slow
def test_a_question_that_runs_away_is_stopped(folder):
    path = str(folder / "own.duckdb")
    with ThreadPoolExecutor(2) as pool:
        ran = pool.map(lambda sql: asked(path, [sql], seconds=0.2), questions("runaway", folder))
    assert [outcome for [outcome] in ran] == [Fault("slow")] * len(HOSTILE["runaway"])
    [last] = asked(path, [ORDINARY])
    assert isinstance(last, Answer)
