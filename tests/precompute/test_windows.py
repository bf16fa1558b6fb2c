"""Paths of Windows are read, and no signal is sent where it would end a process."""

import json
import os
import socket
import sys
from dataclasses import asdict
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import duckdb
import pandas as pd
import pytest

from analysis.foreign_file import attaching
from pages.services import note
from pages.services.open_file import Store, Version
from precompute import serve, stopping
from precompute.run import _misread


@pytest.mark.parametrize(
    ("path", "letter"),
    [
        (r"C:\Users\me\statistics\mine.duckdb", ""),
        (r"\\server\share\mine.duckdb", ""),
        (r"D:\猫 犬\a[1].duckdb", ""),
        (r"C:\a?b\mine.duckdb", "?"),
    ],
)
def test_a_path_of_windows_is_read_as_one(path, letter):
    assert _misread(PureWindowsPath(path)) == letter


@pytest.mark.parametrize("name", [r"C:\me\a.duckdb", r"D:\a'b\猫 犬.duckdb", "E:a.duckdb"])
def test_a_file_is_attached_by_the_letters_of_a_path_of_windows(tmp_path, monkeypatch, name):
    """DuckDB takes a backslash for a slash on every system."""
    monkeypatch.chdir(tmp_path)
    path = Path(name.replace("\\", "/"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(path)) as store:
        store.execute("create table a as select 7 as b")
    with duckdb.connect() as store:
        for statement in attaching(name):
            store.execute(statement)
        assert store.execute("from file.a").fetchall() == [(7,)]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (r"C:\Users\me\bert-base", "bert-base"),
        (r"\\server\share\bert-base", "bert-base"),
        ("/srv/models/bert-base", "bert-base"),
        ("owner/bert-base", "owner/bert-base"),
    ],
)
def test_a_model_in_a_folder_has_its_name_on_whichever_system_the_file_was_made(model, name):
    version = Version("tiny.duckdb", 0, 0)
    assert Store(version, pd.Series({"model": model}), {}, {}, "").model == name


def test_without_such_a_call_the_dashboard_is_waited_for(monkeypatch):
    monkeypatch.setattr(serve.os, "name", "nt")
    with pytest.raises(SystemExit) as ended:
        serve._become(
            [sys.executable, "-c", "import os; os._exit(int(os.environ['A']))"], {"A": "3"}
        )
    assert ended.value.code == 3


def test_no_signal_asks_on_windows_whether_a_noted_run_goes_on(tmp_path, monkeypatch):
    written = note.Note("file", 0, 0, None, socket.gethostname(), os.getpid())
    path = tmp_path / ".a[1].duckdb.computing.here-1.unfinished"
    path.write_text(json.dumps(asdict(written)))
    windows = SimpleNamespace(name="nt", kill=lambda *_: pytest.fail("it would end the process"))
    monkeypatch.setattr(note, "os", windows)
    assert note.note_beside(tmp_path / "a[1].duckdb") == written
    os.utime(path, (0, 0))
    assert note.note_beside(tmp_path / "a[1].duckdb") is None


def test_a_command_ends_where_there_is_no_alarm(monkeypatch, capsys):
    monkeypatch.setattr(stopping, "_HAS_ALARM", False)
    monkeypatch.setattr(stopping.signal, "setitimer", lambda *_: pytest.fail("there is none"))
    monkeypatch.setattr(stopping.signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    stopping.stoppable(lambda _: print("done"))
    assert capsys.readouterr().out == "done\n"
