"""Proxy settings and the container agree with the command for serving."""

import json
import re
import shlex
import tomllib
from fnmatch import fnmatch
from inspect import signature
from itertools import pairwise

import pytest
from packaging.requirements import Requirement

from precompute.serve import _names, serve
from tests.docs.test_site import tracked
from tests.docs.written import ROOT, blocks, commands

PAGE = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
COMMAND = commands(PAGE)[0]


@pytest.mark.parametrize("language", ["nginx", "caddyfile"])
def test_a_proxy_passes_on_what_is_served_under_its_name_and_path(language):
    [written] = blocks(PAGE, language)
    options = dict(re.findall(r"--(\w+) (\S+)", COMMAND))
    given = {name: option.default for name, option in signature(serve).parameters.items()}
    assert written.count("{") == written.count("}")
    assert re.search(rf"(?m)^(?: +server_name )?{re.escape(options['name'])}(?:;| {{)$", written)
    assert re.search(rf"(?m)^\s(?: *location|reverse_proxy) {options['prefix']}/", written)
    assert re.search(rf"\b{re.escape(given['host'])}:{given['port']}(?:;|\n)", written)
    assert f"{options['prefix']}/ready" in PAGE


def test_nginx_lets_through_what_may_be_uploaded():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    [written] = blocks(PAGE, "nginx")
    assert f"client_max_body_size {config['server']['maxUploadSize'] + 1}m;" in written


DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LINES = DOCKERFILE.replace("\\\n", " ").splitlines()


def test_the_container_serves_as_the_command_does_and_installs_what_is_locked():
    said = {word: rest for word, _, rest in (line.partition(" ") for line in LINES)}
    port = signature(serve).parameters["port"].default
    program, command, folder, *options = json.loads(said["ENTRYPOINT"]) + json.loads(said["CMD"])
    assert [program, command, folder] == ["mixscope", "serve", "/statistics"]
    given = {option.removeprefix("--") for option in options[::2]}
    assert given <= set(signature(serve).parameters)
    assert _names(options[1], options[3::2]) == ["localhost"]
    assert said["EXPOSE"] == str(port)
    assert f"http://127.0.0.1:{port}/ready" in said["HEALTHCHECK"]
    assert said["USER"] == "reader"
    assert "RUN pip install --require-hashes -r requirements.lock" in LINES
    [python] = [line for line in LINES if line.startswith("FROM")]
    assert re.fullmatch(r"FROM python:3\.1[1-9]-slim", python)


def test_the_container_gets_what_it_needs_and_nothing_else():
    copied = [line.split()[1:-1] for line in LINES if line.startswith("COPY")]
    assert copied == [["requirements.lock"], ["."]]
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()

    def is_left_out(name: str) -> bool:
        return any(fnmatch(name, pattern.removeprefix("**/")) for pattern in ignored)

    top = {path.partition("/")[0] for path in tracked()}
    needed = {"app.py", "analysis", "pages", "precompute", ".streamlit", "requirements.lock"}
    of_package = {"pyproject.toml", "requirements.txt", "README.md", "LICENSE"}
    assert needed | of_package <= {name for name in top if not is_left_out(name)}
    made = (ROOT / ".gitignore").read_text(encoding="utf-8").replace("/", "").split()
    assert all(is_left_out(name) for name in [".git", "tests", *made])


def test_the_container_is_built_by_what_is_locked():
    """Without isolation, its own package is built by the setuptools of the lock."""
    [built] = [line for line in LINES if " -e ." in line]
    assert "pip install --no-deps --no-build-isolation -e ." in built
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [backend] = map(Requirement, project["build-system"]["requires"])
    [locked] = re.findall(rf"(?m)^{backend.name}==(\S+)", lock)
    assert backend.specifier.contains(locked)


def test_the_container_is_started_without_a_right_to_write_and_for_this_machine_alone():
    comments = [line.removeprefix("#").strip() for line in LINES if line.startswith("#")]
    command = " ".join(line.rstrip("\\") for line in comments)
    started = shlex.split(command[command.index("docker run") :])
    after = dict(pairwise(started))
    port = signature(serve).parameters["port"].default
    assert "--read-only" in started
    assert after["--tmpfs"] == "/tmp"
    assert after["--publish"] == f"127.0.0.1:{port}:{port}"
    assert after["--volume"].endswith(":/statistics:ro")
    [environment] = [line for line in LINES if line.startswith("ENV")]
    assert "HOME=/tmp" in environment.split()
