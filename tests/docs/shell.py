"""Check of the documentation's command lines by the programs' parsers, without running them."""

import argparse
import re
import shlex
from importlib import import_module
from importlib.util import find_spec
from itertools import dropwhile
from typing import Any, NoReturn
from unittest.mock import patch

import typer
from click import ClickException
from typer.exceptions import TyperException

from analysis.contracts import groups
from analysis.errors import UnknownName
from precompute import passes
from precompute.command_line import app
from tests.docs.written import ROOT

STATISTICS = set(passes.STATISTICS)
_PIP_OPTIONS = ("-r", "-e", "--no-deps", "--require-hashes")
_PINNED = re.compile(r"[\w.-]+==[\d.]+")
_ASSIGNMENT = re.compile(r"[A-Z_]+=\S*")
_TARGET = re.compile(r"^([a-z][\w-]*):", re.MULTILINE)


class Misunderstood(AssertionError):
    """A command of the documentation that would not work."""


def understand(line: str) -> None:
    """Pass if the programs of the line would accept it.

    Raises:
        Misunderstood: with the line and what is wrong with it.
    """
    for command in line.split(" | "):
        words = shlex.split(command)
        program, *arguments = dropwhile(_ASSIGNMENT.fullmatch, words)
        if program not in _CHECKS:
            raise Misunderstood(f"{line}: nothing here checks {program}")
        try:
            _CHECKS[program](arguments)
        except (TyperException, UnknownName, AssertionError, SystemExit) as error:
            raise Misunderstood(f"{line}: {error}") from error


def understand_option(code: str) -> None:
    """Check an option alone, such as `--mask 0.12` or `--workers N`."""
    option, *value = code.split()
    if not value:
        _expect(option in _options(), f"{option} is no option of mixscope")
        return
    given = ["1" if word.isupper() else word for word in value]
    for command in ("run", "convert"):
        needed = ["--model", "demo", "--corpus", "demo", "--output", "a.duckdb"]
        try:
            _mixscope([command, *needed, option, *given])
            return
        except TyperException as error:
            wrong = error
    raise Misunderstood(f"{code}: {wrong}")


def _options() -> set[str]:
    every = (typer.main.get_command(app), *_commands().values())
    return {option.opts[0] for command in every for option in command.params}


def _commands() -> dict[str, Any]:
    return vars(typer.main.get_command(app))["commands"]


def _expect(holds: object, wrong: str) -> None:
    if not holds:
        raise Misunderstood(wrong)


def _mixscope(arguments: list[str]) -> None:
    commands = _commands()
    name, *rest = arguments
    if name == "--version":
        return
    _expect(name in commands, f"mixscope has no command {name}")
    given = commands[name].make_context(name, rest).params.get("statistics")
    words = {word.removeprefix("-") for word in given.split(",")} if given else set()
    unknown = words - STATISTICS - {*groups()}
    _expect(not unknown, f"no statistic is called {unknown}")


def _python(arguments: list[str]) -> None:
    _expect(arguments[0] == "-m", "python is only used with -m")
    module, *rest = arguments[1:]
    if module == "precompute":
        _mixscope(rest) if rest else None
    elif module == "pytest":
        _expect(all((ROOT / path).exists() for path in rest if "/" in path), "no such test")
    else:
        spec = find_spec(module)
        _expect(spec, f"there is no module {module}")
        is_package = spec is not None and spec.submodule_search_locations is not None
        _module(f"{module}.__main__" if is_package else module, rest)


class _Parsed(Exception):
    pass


def _module(name: str, arguments: list[str]) -> None:
    """Parse the arguments of `python -m name` by the parser that its `main` makes."""
    main = import_module(name).main
    if "typer.run(main)" in _source(name):
        alone = typer.Typer()
        alone.command()(main)
        typer.main.get_command(alone).make_context(name, list(arguments))
        return
    if "ArgumentParser" not in _source(name):
        _expect(not arguments, f"{name} takes no arguments")
        return
    parse = argparse.ArgumentParser.parse_known_args

    def stop(parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        unknown = parse(parser, arguments)[1]
        raise _Parsed(f"{name} does not know {unknown}" if unknown else "")

    with (
        patch.object(argparse.ArgumentParser, "parse_args", stop),
        patch.object(argparse.ArgumentParser, "parse_intermixed_args", stop),
    ):
        try:
            main()
        except _Parsed as parsed:
            _expect(not str(parsed), str(parsed))


def _source(module: str) -> str:
    return (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")


def _make(arguments: list[str]) -> None:
    targets = _TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
    _expect(set(arguments) <= set(targets), f"targets are {targets}")


def _pip(arguments: list[str]) -> None:
    _expect(arguments[0] == "install", "only pip install is used")
    for place, word in enumerate(arguments[1:], start=1):
        if arguments[place - 1] in ("-r", "-e"):
            path, _, extra = word.rstrip("]").partition("[")
            _expect((ROOT / path).exists(), f"there is no {path}")
            _expect(not extra or f"\n{extra} = [" in _pyproject(), f"there is no extra {extra}")
        else:
            _expect(word in _PIP_OPTIONS or _PINNED.fullmatch(word), f"{word} has no version")


def _pyproject() -> str:
    return (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def _streamlit(arguments: list[str]) -> None:
    _expect(arguments[0] == "run", "only streamlit run is used")
    _expect((ROOT / arguments[1]).is_file(), f"there is no {arguments[1]}")


def _apt(arguments: list[str]) -> None:
    known = (ROOT / ".ci" / "run").read_text(encoding="utf-8").split()
    _expect(arguments[0] == "install", "only apt-get install is used")
    _expect(set(arguments[1:]) <= set(known), "a fresh machine installs other packages")


def _ray(arguments: list[str]) -> None:
    """Parse arguments by Ray's own command line."""
    commands = import_module("ray.scripts.scripts").cli.commands
    name, *options = arguments
    _expect(name in commands, f"ray has no command {name}")
    try:
        commands[name].make_context(name, options)
    except ClickException as error:
        raise AssertionError(error.message) from error


def _only(*known: list[str]):
    return lambda arguments: _expect(arguments in known, f"{arguments} is none of {known}")


_CHECKS = {
    ".": _only([".venv/bin/activate"]),
    "apt-get": _apt,
    "git": _only(["ls-files"]),
    "grep": lambda arguments: _expect(set(arguments) <= STATISTICS, "no statistic"),
    "make": _make,
    "mixscope": _mixscope,
    "pip": _pip,
    "pre-commit": _only(["install"]),
    "python": _python,
    "ray": _ray,
    "streamlit": _streamlit,
}
