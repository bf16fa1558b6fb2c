"""No question to a file takes forever."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import duckdb
from duckdb import DuckDBPyConnection

from analysis.errors import UserError

_SECONDS_BETWEEN_INTERRUPTS = 0.1


class TooSlow(UserError):
    """A question was stopped; `seconds` is the time it had."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        super().__init__(f"It took longer than {seconds:g} s to read and was stopped.")


@contextmanager
def time_limit(connection: DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupt the connection's queries after a time limit.

    Raises:
        TooSlow: if a query was interrupted.
    """
    done, overdue = Event(), Event()

    def watch() -> None:
        wait = seconds
        while not done.wait(wait):
            overdue.set()
            connection.interrupt()  # in vain between two queries: the next one is stopped as well
            wait = _SECONDS_BETWEEN_INTERRUPTS

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    except duckdb.InterruptException as error:
        if overdue.is_set():
            raise TooSlow(seconds) from error
        raise
    finally:
        done.set()
        watching.join()
