"""Commands that start the dashboard or ask what it knows, and their checks."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from analysis.errors import UserError

_APP = Path(__file__).parents[1] / "app.py"
_PREFIX = re.compile(r"[\w.~-]+(/[\w.~-]+)*", re.ASCII)
_NAME = re.compile(r"[\w.-]+", re.ASCII)
_HERE = "127.0.0.1"


def serve(
    folder: Annotated[Path, typer.Argument(help="The folder of files of statistics.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8501,
    host: Annotated[
        str, typer.Option(help="The address of this machine to listen on; 0.0.0.0 is every one.")
    ] = _HERE,
    prefix: Annotated[
        str, typer.Option(help="The path below which a proxy has the dashboard, such as /mixscope.")
    ] = "",
    name: Annotated[
        list[str] | None,
        typer.Option(help="The host in the address that readers type, without a port."),
    ] = None,
) -> None:
    """Serve the dashboard of a folder to several readers: nothing they do changes the folder.

    PREFIX/health answers while the process is alive, PREFIX/ready while a file can be opened.
    """
    _check_folder(folder)
    path, names = _path(prefix), _names(host, name or [])
    _check_address(host, port)
    settings = {
        "server.port": [str(port)],
        "server.address": [host],
        "server.baseUrlPath": [path],
        "server.allowedHosts": [*dict.fromkeys(("127.0.0.1", "localhost", *names))],
    }
    _start(settings, {"MIXSCOPE_STATISTICS": str(folder), "MIXSCOPE_READ_ONLY": "1"})


def open_file(
    file: Annotated[Path, typer.Argument(help="A file of statistics, ending in .duckdb.")],
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8501,
) -> None:
    """Start the dashboard on a file, for this machine alone, and print the address to visit."""
    _check_app()
    _check_file(file)
    _check_address(_HERE, port)
    print(f"http://{_HERE}:{port}/?{urlencode({'file': file.name})}", flush=True)
    settings = {"server.port": [str(port)], "server.address": [_HERE]}
    _start(settings, {"MIXSCOPE_STATISTICS": str(file.parent)})


def _start(settings: dict[str, list[str]], variables: dict[str, str]) -> None:
    """Replace this process by the dashboard's."""
    options = [f"--{setting}={value}" for setting, values in settings.items() for value in values]
    command = [sys.executable, "-m", "streamlit", "run", str(_APP), *options]
    _become(command, os.environ | variables)


def _become(command: list[str], environment: dict[str, str]) -> None:
    """Replace this process by a command; on Windows, which has no such call, wait for its end."""
    if os.name == "nt":
        sys.exit(subprocess.run(command, env=environment).returncode)  # noqa: S603
    os.execve(command[0], command, environment)  # noqa: S606


def _check_app() -> None:
    if not _APP.is_file():
        raise UserError("This installation has no dashboard: `pip install -e .` in a checkout.")


def _check_file(file: Path) -> None:
    if not file.is_file():
        raise UserError(f"There is no file {file}. `mixscope run` and `mixscope demo` make some.")
    if file.suffix != ".duckdb":
        raise UserError(f"{file} does not end in .duckdb, so the dashboard would not find it.")


def _check_folder(folder: Path) -> None:
    _check_app()
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}. Give the one that holds .duckdb files.")
    if not any(folder.glob("*.duckdb")):
        raise UserError(
            f"{folder} holds no file of statistics (.duckdb). Make one: "
            f"`mixscope demo --output {folder / 'demo.duckdb'}`."
        )


def _path(prefix: str) -> str:
    """Return a prefix without the slashes around it."""
    path = prefix.strip("/")
    if path and (not _PREFIX.fullmatch(path) or {".", ".."} & {*path.split("/")}):
        raise UserError(
            f"The prefix {prefix!r} is no path of letters, digits and . _ ~ -. "
            "Give one such as /mixscope."
        )
    return path


def _names(host: str, names: list[str]) -> list[str]:
    """Return the hosts that readers may name beside this machine's own."""
    for name in names:
        if not _NAME.fullmatch(name):
            raise UserError(
                f"{name!r} is no name of a host. Give it without https://, port and path, "
                "such as statistics.example.org."
            )
    if host not in ("0.0.0.0", "::"):  # noqa: S104
        return [host, *names]
    if names:
        return names
    raise UserError(
        f"--host {host} serves other machines, whose readers name this one. Add the name "
        "that they type, such as --name statistics.example.org."
    )


def _check_address(host: str, port: int) -> None:
    """Raise unless this machine has the address and nobody else listens there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise UserError(
            f"Port {port} of {host} cannot be served: {error.strerror}. "
            "Give another --port, or a --host of this machine."
        ) from error


def findings(
    file: Annotated[Path, typer.Argument(help="A file of statistics, ending in .duckdb.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="All of each finding: evidence, baseline, link.")
    ] = False,
) -> None:
    """Print what the dashboard finds in a file, the clearest first, with its certainty."""
    _check_app()
    _check_file(file)
    command = [sys.executable, "-m", "pages.overview.as_json", str(file.absolute())]
    made = subprocess.run(  # noqa: S603
        command, cwd=_APP.parent, capture_output=True, encoding="utf-8", check=False
    )
    if made.returncode:
        raise UserError(made.stderr.strip().splitlines()[-1])
    if as_json:
        print(made.stdout)
        return
    for finding in json.loads(made.stdout)["findings"]:
        print(f"{finding['label']}: {finding['number']}. {finding['sentence']}")
        print(f"  {finding['certainty']}")
