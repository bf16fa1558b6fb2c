"""Ctrl-C and SIGTERM end a command with one line, whatever it was doing."""

import signal
import sys
import threading
import time
from contextlib import suppress

import pytest
import typer

from precompute import stopping
from precompute.stopping import stoppable

SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}


@pytest.fixture(autouse=True)
def handlers(monkeypatch):
    """Restore signal handlers after the test; the process's end becomes an exception."""
    before = {number: signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)}
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(stopping, "end_quietly", sys.exit)
    monkeypatch.setattr(stopping, "command_given", lambda: "mixscope run")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def _typed(number: int) -> None:
    app = typer.Typer()
    app.command()(lambda: signal.raise_signal(number))
    app(args=[])


def _of_a_query(number: int) -> None:
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt as error:
        raise RuntimeError("Query interrupted") from error


def _twice(number: int) -> None:
    try:
        signal.raise_signal(number)
    finally:
        signal.raise_signal(signal.SIGINT)


def _where_nothing_can_be_raised(number: int) -> None:
    class Forgotten:
        def __del__(self):
            signal.raise_signal(number)

    Forgotten()
    time.sleep(60)


COMMANDS = [signal.raise_signal, _typed, _of_a_query, _twice, _where_nothing_can_be_raised]


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_gets_a_signal_says_one_line_and_what_is_kept(number, command, capsys):
    kept = "" if command is _twice else "Kept in there: 3 of 4. "

    def stopped(stop_line):
        if kept:
            stop_line.kept = kept.strip
        command(number)

    with pytest.raises(SystemExit) as ended:
        stoppable(stopped)
    assert ended.value.code == SIGNALS[number]
    assert capsys.readouterr() == ("", f"Stopped. {kept}Go on: mixscope run\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_what_does_not_hear_a_signal_is_ended_all_the_same(number, capsys, monkeypatch):
    """Of a call into a library the main thread does not return to Python."""
    ended, statuses = threading.Event(), []
    monkeypatch.setattr(stopping, "_GRACE", 0)
    monkeypatch.setattr(stopping.os, "_exit", lambda n: (statuses.append(n), ended.set()))

    def deaf(_):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(number)
        assert ended.wait(60)

    stoppable(deaf)
    assert statuses == [SIGNALS[number]]
    assert capsys.readouterr().err == "Stopped. Go on: mixscope run\n"


def test_a_command_that_gets_none_ends_as_it_does(capsys):
    stoppable(lambda _: print("done"))
    signal.raise_signal(signal.SIGINT)  # while the process ends
    with pytest.raises(SystemExit) as ended:
        stoppable(lambda _: sys.exit(1))
    assert ended.value.code == 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for commands behind
    stoppable(lambda _: signal.raise_signal(signal.SIGINT))
    assert capsys.readouterr() == ("done\n", "")
