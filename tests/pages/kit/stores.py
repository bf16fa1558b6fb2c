"""Files of tiny models, changed copies of them, and queries on either."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pandas as pd
import pytest

from pages.services import inquiry
from pages.words.say import speak_of
from tests.shared_store import shared_store


def rows_of(table: str) -> str:
    """The statement that makes the manifest agree with how many rows a table has."""
    counted = f"(select count(*) from stored.{table})"
    return f"update stored.manifest set n_rows = {counted} where name = '{table}'"


def lacking(table: str) -> tuple[str, str]:
    """Statements that turn a file into one made without a statistic."""
    return f"delete from stored.{table}", rows_of(table)


def changed_copy(folder: Path, to: Path, *statements: str) -> Path:
    """Copy the only file of another folder to `to`, as if built after some statements."""
    copyfile(folder / "tiny.duckdb", to / "tiny.duckdb")
    changed = set(re.findall(r"stored\.(\w+)", " ".join(statements))) - {"manifest"}
    with duckdb.connect(str(to / "tiny.duckdb")) as store:
        store.execute("begin")  # one transaction: the disk is waited for once
        for statement in (*statements, *map(rows_of, changed)):
            store.execute(statement)
        store.execute("commit")
    return to


@pytest.fixture(scope="session")
def scratch(tmp_path_factory) -> Callable[[Path], duckdb.DuckDBPyConnection]:
    """Connection to a copy of a folder's only file, shared by all tests; they roll changes back."""

    @cache
    def opened(folder: Path) -> duckdb.DuckDBPyConnection:
        copy = tmp_path_factory.mktemp("scratch") / "scratch.duckdb"
        return duckdb.connect(str(copyfile(folder / "tiny.duckdb", copy)))

    return opened


@pytest.fixture
def changed(store_folder, tmp_path_factory) -> Callable[..., Path]:
    """Copies of the store after some statements."""
    return lambda *statements: changed_copy(
        store_folder, tmp_path_factory.mktemp("changed"), *statements
    )


@pytest.fixture
def after(request, monkeypatch, scratch) -> Iterator[Callable[..., None]]:
    """Change the rows of a store, which is named, by statements before pages query it.

    Facts on the file itself stay: its run, its provenance, its numbers of rows.
    """
    opened: list[duckdb.DuckDBPyConnection] = []

    def change(*statements: str, to: str = "store") -> None:
        folder = request.getfixturevalue(f"{to}_folder")
        store = scratch(folder)

        def asked(_record: Any, _store: Any, question: Callable[..., Any], **choices: Any) -> Any:
            answer = question(store, **choices)
            return inquiry._widened(answer) if isinstance(answer, pd.DataFrame) else answer

        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        monkeypatch.setattr(inquiry.Asked, "ask", asked)
        if store in opened:
            store.execute("rollback")
        opened.append(store)
        store.execute("begin")
        for statement in statements:
            store.execute(statement)

    together: Any = inquiry._answer_together
    monkeypatch.setattr(inquiry, "_answer_together", together.__wrapped__)
    yield change
    for store in {id(store): store for store in opened}.values():
        store.execute("rollback")
    speak_of("texts")


def folder_of(family: str = "bert", **chosen: Any) -> Any:
    """A fixture: the folder of a file, tiny.duckdb, that the real passes built.

    Args:
        chosen: further options of `shared_store`.
    """

    @pytest.fixture(scope="session")
    def folder(tmp_path_factory) -> Path:
        return shared_store(tmp_path_factory, family, **chosen).parent

    return folder
