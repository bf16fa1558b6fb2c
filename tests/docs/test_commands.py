"""Every command of the documentation is understood by the program it names; cheap ones run."""

import shlex
import shutil
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from precompute import __version__, command_line
from tests.docs.shell import Misunderstood, understand, understand_option
from tests.docs.written import commands, everywhere, languages, options
from tests.shared_store import shared_store

CHEAP = {"check", "show", "statistics", "convert"}


def test_every_command_is_understood():
    uses = list(everywhere(commands))
    assert len(uses) > 60, "this test could not have failed"
    for _, command in uses:
        understand(command)


def test_every_block_is_in_a_language_that_is_checked():
    here, in_test_serving = {"sh", "sql", "python"}, {"nginx", "caddyfile"}
    assert {language for _, language in everywhere(languages)} == here | in_test_serving


def test_every_option_is_understood():
    uses = list(everywhere(options))
    assert len(uses) > 15, "this test could not have failed"
    for _, option in uses:
        understand_option(option)


@pytest.mark.parametrize(
    "command",
    [
        "mixscope run --model demo --corpus demo --output a.duckdb --masks 0.1",
        "mixscope run --model demo --corpus demo --output a.duckdb --statistics head_tokens",
        "python -m tests.benchmark --nothing",
        "python -m pytest tests/nothing.py",
        "make demos",
        "pip install -r requirement.txt",
        "ray start --heads",
        "streamlit run apps.py",
        "apt-get install firefox",
        "git ls-files | grep token_type_mixings",
    ],
)
def test_a_wrong_command_would_be_seen(command):
    text = f"Type\n\n```sh\nmake demo\n{command}   # which does it\n```\n"
    assert commands(text) == ["make demo", command]
    with pytest.raises(Misunderstood):
        understand(command)


@pytest.mark.parametrize("option", ["--masks 0.12", "--segments one", "--seed", "--workers none"])
def test_a_wrong_option_would_be_seen(option):
    wrong = f"{option.replace('--seed', '--seeds')}"
    assert options(f"Add `{wrong}`.") == [wrong]
    with pytest.raises(Misunderstood):
        understand_option(wrong)


@pytest.fixture
def workplace(tmp_path, monkeypatch) -> Path:
    (tmp_path / "statistics").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _arguments(command: str) -> list[str]:
    """Arguments after `mixscope` or `python -m precompute`; empty for other programs."""
    words = shlex.split(command)
    return words[1:] if words[0] == "mixscope" else words[3:] * (words[2:3] == ["precompute"])


def test_the_version_is_told(capsys):
    with patch.object(sys, "argv", ["mixscope", "--version"]), pytest.raises(SystemExit) as done:
        command_line.run_command()
    assert (done.value.code, capsys.readouterr().out) == (0, f"mixscope {__version__}\n")


def _is_cheap(arguments: list[str]) -> bool:
    return bool(arguments) and (
        arguments[0] in CHEAP or ("demo-digits" in arguments and "--limit" in arguments)
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return shared_store(tmp_path_factory, annotated=True)


def test_cheap_commands_run(workplace, store, capsys):
    typed = [_arguments(command) for _, command in everywhere(commands)]
    cheap = sorted({tuple(arguments) for arguments in typed if _is_cheap(arguments)})
    assert {arguments[0] for arguments in cheap} == {"run", *CHEAP}
    for arguments in sorted(cheap, key=lambda arguments: arguments[0] != "run"):
        read = Path(arguments[-1])
        if arguments[0] in ("check", "show") and not read.exists():
            shutil.copy(store, read)
        with patch.object(sys, "argv", ["mixscope", *arguments]), pytest.raises(SystemExit) as done:
            command_line.run_command()
        assert done.value.code == 0, arguments
    output = capsys.readouterr()
    assert "whole and sound" in output.out
    assert not output.err
