"""Check of the documentation's command lines by the programs' parsers, without running them."""

import re
import shlex
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import dropwhile
from typing import Any

import typer
from click import ClickException
from typer.exceptions import TyperException

from analysis.contracts import groups
from analysis.errors import UnknownName
from precompute import passes
from precompute.command_line import app
from tests.docs.written import ROOT, text_of

STATISTICS = set(passes.STATISTICS)
_COMMANDS: dict[str, Any] = vars(typer.main.get_command(app))["commands"]
_PINNED = re.compile(r"[\w.-]+==[\d.]+")
_ASSIGNMENT = re.compile(r"[A-Z_]+=\S*")
_TARGET = re.compile(r"^([a-z][\w-]*):", re.MULTILINE)


def understand(line: str) -> None:
    """Pass if the programs of the line would accept it; else raise AssertionError with the line."""
    for command in line.split(" | "):
        program, *arguments = dropwhile(_ASSIGNMENT.fullmatch, shlex.split(command))
        try:
            assert _CHECKS[program](arguments), arguments
        except (TyperException, UnknownName, ClickException, KeyError, SystemExit) as error:
            raise AssertionError(f"{line}: {error}") from error


def understand_option(code: str) -> None:
    """Pass if a command takes an option alone, such as `--mask 0.12` or `--workers N`."""
    option, *value = code.split()
    every = (typer.main.get_command(app), *_COMMANDS.values())
    assert option in {known.opts[0] for command in every for known in command.params}, code
    if not value:
        return
    given = ["1" if word.isupper() else word for word in value]
    needed = ["--model", "demo", "--corpus", "demo", "--output", "a.duckdb"]
    for command in ("run", "convert"):
        if any(option in known.opts for known in _COMMANDS[command].params):
            assert _mixscope([command, *needed, option, *given])
            return


def _mixscope(arguments: list[str]) -> bool:
    name, *rest = arguments
    if name == "--version":
        return True
    given = _COMMANDS[name].make_context(name, rest).params.get("statistics")
    words = {word.removeprefix("-") for word in given.split(",")} if given else set()
    return words <= STATISTICS | {*groups()}


def _python(arguments: list[str]) -> bool:
    """Check a module's command line, or that it is there and has the options in its source."""
    dash_m, module, *rest = arguments
    if module == "precompute":
        return not rest or _mixscope(rest)
    if module == "pytest":
        return all((ROOT / path).exists() for path in rest if "/" in path)
    spec = find_spec(module)
    assert spec, module
    folder = module.replace(".", "/")
    source = text_of(f"{folder}/__main__.py" if spec.submodule_search_locations else f"{folder}.py")
    options = [word for word in rest if word.startswith("--")]
    known = [f'"{of}"' in source or f"{of.removeprefix('--')}:" in source for of in options]
    return dash_m == "-m" and all(known)


def _pip(arguments: list[str]) -> bool:
    install, *words = arguments
    for before, word in zip([install, *words], words, strict=False):
        path, _, extra = word.rstrip("]").partition("[")
        if before in ("-r", "-e"):
            assert (ROOT / path).exists(), word
            assert not extra or f"\n{extra} = [" in text_of("pyproject.toml"), word
        else:
            options = ("-r", "-e", "--no-deps", "--require-hashes")
            assert word in options or _PINNED.fullmatch(word), f"{word} has no version"
    return install == "install"


def _ray(arguments: list[str]) -> bool:
    name, *options = arguments
    import_module("ray.scripts.scripts").cli.commands[name].make_context(name, options)
    return True


_CHECKS: dict[str, Callable[[list[str]], bool]] = {
    ".": lambda words: words == [".venv/bin/activate"],
    "apt-get": lambda words: (
        words[0] == "install" and {*words[1:]} <= {*text_of(".ci/run").split()}
    ),
    "git": lambda words: words == ["ls-files"],
    "grep": lambda words: {*words} <= STATISTICS,
    "make": lambda words: {*words} <= {*_TARGET.findall(text_of("Makefile"))},
    "mixscope": _mixscope,
    "pip": _pip,
    "pre-commit": lambda words: words == ["install"],
    "python": _python,
    "ray": _ray,
    "streamlit": lambda words: words[0] == "run" and (ROOT / words[1]).is_file(),
}
