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
from tests.docs.written import blocks, commands, text_of

PAGE = text_of("docs/serving.md")
COMMAND = commands(PAGE)[0]
DEFAULTS = {name: option.default for name, option in signature(serve).parameters.items()}


@pytest.mark.parametrize("language", ["nginx", "caddyfile"])
def test_a_proxy_passes_on_what_is_served_under_its_name_and_path(language):
    [written] = blocks(PAGE, language)
    options = dict(re.findall(r"--(\w+) (\S+)", COMMAND))
    name, prefix = re.escape(options["name"]), options["prefix"]
    assert written.count("{") == written.count("}")
    assert re.search(rf"(?m)^(?: +server_name )?{name}(?:;| {{)$", written)
    assert re.search(rf"(?m)^\s(?: *location|reverse_proxy) {prefix}/", written)
    assert re.search(rf"\b{re.escape(DEFAULTS['host'])}:{DEFAULTS['port']}(?:;|\n)", written)
    assert f"{prefix}/ready" in PAGE
    if language == "nginx":
        most = tomllib.loads(text_of(".streamlit/config.toml"))["server"]["maxUploadSize"]
        assert f"client_max_body_size {most + 1}m;" in written, "what may be uploaded"


LINES = text_of("Dockerfile").replace("\\\n", " ").splitlines()
SAID = {word: rest for word, _, rest in (line.partition(" ") for line in LINES)}


def test_the_container_serves_as_the_command_does_and_installs_what_is_locked():
    program, command, folder, *options = json.loads(SAID["ENTRYPOINT"]) + json.loads(SAID["CMD"])
    assert [program, command, folder] == ["mixscope", "serve", "/statistics"]
    assert {option.removeprefix("--") for option in options[::2]} <= set(DEFAULTS)
    assert _names(options[1], options[3::2]) == ["localhost"]
    assert SAID["EXPOSE"] == str(DEFAULTS["port"])
    assert f"http://127.0.0.1:{DEFAULTS['port']}/ready" in SAID["HEALTHCHECK"]
    assert SAID["USER"] == "reader"
    assert re.fullmatch(r"python:3\.1[1-9]-slim", SAID["FROM"])
    assert "RUN pip install --require-hashes -r requirements.lock" in LINES
    [built] = [line for line in LINES if " -e ." in line]
    assert "pip install --no-deps --no-build-isolation -e ." in built, "by the lock's setuptools"
    [backend] = tomllib.loads(text_of("pyproject.toml"))["build-system"]["requires"]
    needed = Requirement(backend)
    [locked] = re.findall(rf"(?m)^{needed.name}==(\S+)", text_of("requirements.lock"))
    assert needed.specifier.contains(locked)


def test_the_container_gets_what_it_needs_and_nothing_else():
    copied = [line.split()[1:-1] for line in LINES if line.startswith("COPY")]
    assert copied == [["requirements.lock"], ["."]]
    ignored = [pattern.removeprefix("**/") for pattern in text_of(".dockerignore").split()]

    def is_left_out(name: str) -> bool:
        return any(fnmatch(name, pattern) for pattern in ignored)

    top = {path.partition("/")[0] for path in tracked()}
    needed = {"app.py", "analysis", "pages", "precompute", ".streamlit", "requirements.lock"}
    of_package = {"pyproject.toml", "requirements.txt", "README.md", "LICENSE"}
    assert needed | of_package <= {name for name in top if not is_left_out(name)}
    made = text_of(".gitignore").replace("/", "").split()
    assert all(is_left_out(name) for name in [".git", "tests", *made])


def test_the_container_is_started_without_a_right_to_write_and_for_this_machine_alone():
    comments = [line.removeprefix("#").strip() for line in LINES if line.startswith("#")]
    command = " ".join(line.rstrip("\\") for line in comments)
    started = shlex.split(command[command.index("docker run") :])
    after, port = dict(pairwise(started)), DEFAULTS["port"]
    assert "--read-only" in started
    assert after["--tmpfs"] == "/tmp"
    assert after["--publish"] == f"127.0.0.1:{port}:{port}"
    assert after["--volume"].endswith(":/statistics:ro")
    assert "HOME=/tmp" in SAID["ENV"].split()
