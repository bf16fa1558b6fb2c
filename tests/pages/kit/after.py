"""Pages on a file after some SQL statements, without opening another file."""

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


@pytest.fixture(scope="session")
def scratch(tmp_path_factory) -> Callable[[Path], duckdb.DuckDBPyConnection]:
    """Connection to a copy of a folder's only file, shared by all tests; they roll changes back."""

    @cache
    def opened(folder: Path) -> duckdb.DuckDBPyConnection:
        copy = tmp_path_factory.mktemp("scratch") / "scratch.duckdb"
        return duckdb.connect(str(copyfile(folder / "tiny.duckdb", copy)))

    return opened


def after_of(name: str) -> Any:
    """Make a fixture that changes another fixture's store by statements before pages query it.

    Further calls replace the statements. Facts on the file itself stay: its run, its provenance,
    its numbers of rows.
    """

    @pytest.fixture
    def after(request, monkeypatch, scratch, openings) -> Iterator[Callable[..., None]]:
        folder = request.getfixturevalue(name)
        store, kept = scratch(folder), openings.copy()

        def asked(_record: Any, _store: Any, question: Callable[..., Any], **choices: Any) -> Any:
            answer = question(store, **choices)
            return inquiry._widened(answer) if isinstance(answer, pd.DataFrame) else answer

        def change(*statements: str) -> None:
            openings.clear()
            store.execute("rollback")
            store.execute("begin")
            for statement in statements:
                store.execute(statement)

        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        monkeypatch.setattr(inquiry.Asked, "ask", asked)
        cached: Any = inquiry._answer_together
        monkeypatch.setattr(inquiry, "_answer_together", cached.__wrapped__)
        openings.clear()
        store.execute("begin")
        yield change
        store.execute("rollback")
        openings.clear()
        openings.update(kept)
        speak_of("texts")

    return after
