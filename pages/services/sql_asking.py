"""Execution of SQL on a file, in a process of its own within limits of time and memory."""

import json
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore, Event, Timer
from typing import IO, Any, cast

import pandas as pd
import streamlit as st

from analysis.foreign_file import attaching, viewing
from pages.services.open_file import Version
from pages.services.sql_reader import TOO_SLOW
from pages.words.say import plain, say

SECONDS = 10.0
"""Time limit of a query, once the file is open."""
ROWS, COLUMNS = 100_000, 256
"""Limits of an answer: further rows are cut off, further columns refused."""
LETTERS = 16 * 2**20
"""Limit of an answer as JSON."""
MEMORY = "1GB"
"""Memory limit of the database, which reports when it needs more."""
_OF_PROCESS = 2 * 2**30  # bytes; includes memory that the database does not count
_AT_ONCE = BoundedSemaphore(2)
_MOST_WHOLE = 2**63
_ROOT = Path(__file__).parents[2]
_TO_OPEN = 60.0  # seconds; with what a busy machine takes to start it


@dataclass(frozen=True)
class Answer:
    """Rows that a query returned; `was_cut` says that there are more."""

    frame: pd.DataFrame
    was_cut: bool


@dataclass(frozen=True)
class Fault:
    """Reason why a query has no answer, with the database's message.

    `name` is `nothing`, `several`, `not_reading`, `sql`, `memory`, `large`, `slow` or `ended`.
    """

    name: str
    message: str = ""


def why_unanswered(fault: Fault) -> str:
    """Explain in the reader's language why a query has no answer, with a remedy."""
    limits = {"seconds": f"{SECONDS:g}", "memory": MEMORY, "columns": COLUMNS}
    limits |= {"megabytes": LETTERS // 2**20}
    return say(f"sql.fault_{fault.name}", kind=plain(fault.message), **limits)


@st.cache_data(max_entries=64, max_size="128MB", ttl=600, show_spinner=False)
def answered(version: Version, sql: str) -> Answer | Fault:
    """Return the cached answer to a query; failures too are cached, for ten minutes."""
    with _AT_ONCE:
        [outcome] = asked(version.path, [sql])
    return outcome


def asked(
    path: str, questions: Iterable[str], *, seconds: float = SECONDS, rows: int = ROWS
) -> list[Answer | Fault]:
    """Run several queries, one after the other, on a file that was found sound.

    Args:
        path: absolute, without links.

    Returns:
        Answers up to the first that ended the process; one fault if the file could not be opened in
        time.
    """
    opening = {
        "statements": [*attaching(path, memory=MEMORY), *viewing()],
        "rows": rows,
        "columns": COLUMNS,
    }
    limits = {"seconds": seconds, "memory": _OF_PROCESS, "letters": LETTERS, "opening": opening}
    outcomes: list[Answer | Fault] = []
    process = BoundedProcess(limits)
    try:
        for sql in questions:
            outcomes.append(_outcome(process.ask(sql), rows))
    except Ended as end:
        outcomes.append(Fault(str(end)))
    finally:
        process.close()
    return outcomes


class Ended(Exception):
    """Raised if a process ended before its answer: `slow` after its time, or else `ended`."""


class BoundedProcess:
    """The program that answers queries, in a process of its own.

    Args:
        limits: seconds and letters of an answer, memory in bytes, and what the file is opened by.
    """

    def __init__(self, limits: dict[str, Any]) -> None:
        self._seconds, self._unsaid = limits["seconds"], [limits]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pages.services.sql_reader"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=_ROOT,
        )

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        with suppress(OSError):  # of a pipe that nobody reads; Windows has no broken ones
            self._process.__exit__(None, None, None)

    def ask(self, question: Any) -> dict[str, Any]:
        """Return the answer to a question; {"fault": "large"} if it has too many letters.

        Raises:
            Ended: the process has ended, and stays so.
        """
        late = Event()
        alarm = Timer(_TO_OPEN + self._seconds, self._end_late, [late])
        alarm.start()
        try:
            reply = self._reply(question)
        finally:
            alarm.cancel()
        if not reply or reply.startswith(TOO_SLOW):
            self.close()
            raise Ended("slow" if reply or late.is_set() else "ended")
        return json.loads(reply)

    def _end_late(self, late: Event) -> None:
        late.set()
        self._process.kill()

    def _reply(self, question: Any) -> str:
        """Return a line; empty if the process has ended."""
        questions, replies = cast(IO[str], self._process.stdin), cast(IO[str], self._process.stdout)
        lines = "".join(f"{json.dumps(line)}\n" for line in (*self._unsaid, question))
        self._unsaid = []
        with suppress(OSError):  # of a pipe that nobody reads; Windows has no broken ones
            questions.write(lines)
            questions.flush()
        return replies.readline()


def _outcome(reply: dict[str, Any], most: int) -> Answer | Fault:
    if "fault" in reply:
        return Fault(reply["fault"], reply.get("message", ""))
    rows = reply["rows"]
    columns = zip(*rows[:most], strict=True) if rows else [()] * len(reply["names"])
    described = zip(_distinct_names(reply["names"]), reply["kinds"], columns, strict=True)
    frame = pd.DataFrame({name: _column(list(column), kind) for name, kind, column in described})
    return Answer(frame, was_cut=len(rows) > most)


def _distinct_names(names: list[str]) -> list[str]:
    """Number repeated names so that all are distinct."""
    unique: list[str] = []
    for name in names:
        numbered = (f"{name}_{place}" for place in range(2, len(names) + 2))
        unique.append(name if name not in unique else next(e for e in numbered if e not in unique))
    return unique


def _column(values: list[Any], kind: str) -> pd.Series:
    """Convert values to a column of one kind; integers beyond 64 bits become text."""
    there = [value for value in values if value is not None]
    if kind == "whole" and all(-_MOST_WHOLE <= value < _MOST_WHOLE for value in there):
        return pd.Series(values, dtype="int64" if len(there) == len(values) else "Int64")
    if kind == "number":
        return pd.Series(values, dtype="float64")
    if kind == "truth":
        return pd.Series(values, dtype="bool" if len(there) == len(values) else "boolean")
    return pd.Series([value if value is None else str(value) for value in values], dtype="str")
