"""Every command of the documentation is understood by the program it names; cheap ones run."""

import shlex
import shutil
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from precompute import __version__, command_line
from tests.docs.shell import understand, understand_option
from tests.docs.written import commands, everywhere, languages, options
from tests.shared_store import shared_store

CHEAP = {"check", "show", "statistics", "convert"}


def test_every_command_and_option_is_understood_and_every_language_is_one_that_is_checked():
    uses, added = list(everywhere(commands)), list(everywhere(options))
    assert min(len(uses) - 45, len(added)) > 15, "this test could not have failed"
    for _, command in uses:
        understand(command)
    for _, option in added:
        understand_option(option)
    here, in_test_serving = {"sh", "sql", "python"}, {"nginx", "caddyfile"}
    assert {language for _, language in everywhere(languages)} == here | in_test_serving


def run_command(*arguments: str) -> None:
    with patch.object(sys, "argv", ["mixscope", *arguments]), pytest.raises(SystemExit) as done:
        command_line.run_command()
    assert done.value.code == 0, arguments


def test_cheap_commands_run(tmp_path_factory, tmp_path, monkeypatch, capsys):
    store = shared_store(tmp_path_factory, annotated=True)
    capsys.readouterr()  # of a store that is built only now
    run_command("--version")
    assert capsys.readouterr().out == f"mixscope {__version__}\n"
    (tmp_path / "statistics").mkdir()
    monkeypatch.chdir(tmp_path)
    lines = {
        command.replace("python -m precompute", "mixscope") for _, command in everywhere(commands)
    }
    typed = {tuple(shlex.split(line)[1:]) for line in lines if line.startswith("mixscope ")}
    of_digits = {words for words in typed if {"demo-digits", "--limit"} <= {*words}}
    cheap = of_digits | {words for words in typed if words[0] in CHEAP}
    assert {arguments[0] for arguments in cheap} == {"run", *CHEAP}
    for arguments in sorted(cheap, key=lambda arguments: arguments[0] != "run"):
        read = Path(arguments[-1])
        if arguments[0] in ("check", "show") and not read.exists():
            shutil.copy(store, read)
        run_command(*arguments)
    output = capsys.readouterr()
    assert "whole and sound" in output.out
    assert not output.err
