"""Ctrl-C and SIGTERM end a command with one line, whatever it was doing."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
import typer

from precompute import stopping
from precompute.stopping import stoppable
from tests import processes
from tests.processes import assert_stopped, hear_ctrl_c, wait_for_handler
from tests.small_store import request

_COMMAND_GIVEN = stopping.command_given
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}


@pytest.fixture(autouse=True)
def handlers(monkeypatch):
    """Restore signal handlers after the test; the process's end becomes an exception."""
    before = {number: signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)}
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(stopping, "end_quietly", sys.exit)
    monkeypatch.setattr(stopping, "command_given", lambda: "mixscope run")
    hear_ctrl_c()
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
def test_a_command_that_gets_a_signal_says_one_line(number, command, capsys):
    with pytest.raises(SystemExit) as ended:
        stoppable(lambda _: command(number))
    assert ended.value.code == SIGNALS[number]
    assert capsys.readouterr() == ("", "Stopped. Go on: mixscope run\n")


def test_a_stopped_command_says_what_is_kept_and_only_once(capsys):
    def command(stop_line):
        stop_line.kept = lambda: "Kept in there: 3 of 4."
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(SystemExit):
        stoppable(command)
    assert capsys.readouterr().err == "Stopped. Kept in there: 3 of 4. Go on: mixscope run\n"


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


@pytest.mark.parametrize(
    ("found", "given", "expected"),
    [
        ("/bin/mixscope", ["/bin/mixscope", "run", "--limit", "2"], "mixscope run --limit 2"),
        ("/other/mixscope", ["/bin/mixscope", "show", "a b"], "/bin/mixscope show 'a b'"),
        (None, ["/x/precompute/__main__.py", "demo"], "python3 -m precompute demo"),
    ],
)
def test_the_command_that_goes_on_is_the_one_that_was_given(found, given, expected, monkeypatch):
    monkeypatch.setattr(stopping, "command_given", _COMMAND_GIVEN)
    monkeypatch.setattr(sys, "argv", given)
    monkeypatch.setattr(sys, "orig_argv", ["python3", "-m", "precompute", "demo"])
    monkeypatch.setattr(stopping.shutil, "which", lambda name: found)
    assert stopping.command_given() == expected


def test_a_command_that_gets_none_ends_as_it_does(capsys):
    stoppable(lambda _: print("done"))
    signal.raise_signal(signal.SIGINT)  # while the process ends
    with pytest.raises(SystemExit) as ended:
        stoppable(lambda _: sys.exit(1))
    assert ended.value.code == 1
    with pytest.raises(KeyError):
        stoppable(lambda _: {}["x"])
    assert capsys.readouterr() == ("done\n", "")


def test_a_signal_that_the_shell_has_ignored_stays_so(capsys):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stoppable(lambda _: signal.raise_signal(signal.SIGINT))
    assert capsys.readouterr() == ("", "")


def _imports(_: int) -> bool:
    return True


def _has_begun_to_start_workers(run: int) -> bool:
    return any(b"forkserver" in processes.command_line(child) for child in processes.children(run))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds the processes of a run in /proc")
@pytest.mark.parametrize(
    ("phase", "number"),
    [(_imports, signal.SIGTERM), (_has_begun_to_start_workers, signal.SIGINT)],
)
def test_a_run_that_is_stopped_leaves_one_line_and_no_process(phase, number, tmp_path):
    asked = request(tmp_path, statistics=["token_norm"])
    run = subprocess.Popen(
        processes.command_of(asked, "--workers", "2", "--cpus-per-worker", "1"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_ctrl_c,
        cwd=Path(__file__).parents[2],
    )
    wait_for_handler(run)
    while run.poll() is None and not phase(run.pid):
        time.sleep(0.01)
    os.killpg(run.pid, number)
    assert assert_stopped(run, number) == "stopped in one line"
