"""Changed copies of a file of statistics, and queries on the original."""

import re
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pytest


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


def changes_of(name: str) -> Any:
    """Make a fixture that copies the store of another fixture after some statements."""

    @pytest.fixture
    def change(request, tmp_path_factory) -> Callable[..., Path]:
        folder = request.getfixturevalue(name)
        return lambda *statements: changed_copy(
            folder, tmp_path_factory.mktemp("changed"), *statements
        )

    return change


def answers_of(name: str) -> Any:
    """Make a fixture that queries the store of another fixture."""

    @pytest.fixture
    def answer(request) -> Callable[[str], list[tuple[Any, ...]]]:
        path = request.getfixturevalue(name) / "tiny.duckdb"

        def ask(query: str) -> list[tuple[Any, ...]]:
            with duckdb.connect(str(path), read_only=True) as store:
                return store.execute(query).fetchall()

        return ask

    return answer
