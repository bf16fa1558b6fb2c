"""Copies of a file of statistics that are changed for a test, and what a file itself answers."""

from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pytest


def lacking(table: str) -> tuple[str, str]:
    """The statements after which a file was made without a statistic."""
    return (
        f"delete from stored.{table}",
        f"update stored.manifest set n_rows = 0 where name = '{table}'",
    )


def changed_copy(folder: Path, to: Path, *statements: str) -> Path:
    """The folder `to`, with the one file of another folder after some statements."""
    copyfile(folder / "tiny.duckdb", to / "tiny.duckdb")
    with duckdb.connect(str(to / "tiny.duckdb")) as store:
        for statement in statements:
            store.execute(statement)
    return to


def changes_of(name: str) -> Any:
    """A fixture that makes folders with the store of another fixture after some statements."""

    @pytest.fixture
    def change(request, tmp_path_factory) -> Callable[..., Path]:
        folder = request.getfixturevalue(name)
        return lambda *statements: changed_copy(
            folder, tmp_path_factory.mktemp("changed"), *statements
        )

    return change


def answers_of(name: str) -> Any:
    """A fixture that tells what the store of another fixture answers to a query."""

    @pytest.fixture
    def answer(request) -> Callable[[str], list[tuple[Any, ...]]]:
        path = request.getfixturevalue(name) / "tiny.duckdb"

        def ask(query: str) -> list[tuple[Any, ...]]:
            with duckdb.connect(str(path), read_only=True) as store:
                return store.execute(query).fetchall()

        return ask

    return answer
