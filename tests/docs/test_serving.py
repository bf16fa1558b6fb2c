"""Proxy settings in the documentation agree with the command for serving."""

import json
import re
import tomllib
from inspect import signature

import pytest

from precompute.serve import _names, serve
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


def test_the_container_serves_as_the_command_does_and_installs_what_is_locked():
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    said = {word: rest for word, _, rest in (line.partition(" ") for line in lines)}
    port = signature(serve).parameters["port"].default
    program, command, folder, *options = json.loads(said["ENTRYPOINT"]) + json.loads(said["CMD"])
    assert [program, command, folder] == ["mixscope", "serve", "/statistics"]
    given = {option.removeprefix("--") for option in options[::2]}
    assert given <= set(signature(serve).parameters)
    assert _names(options[1], options[3::2]) == ["localhost"]
    assert said["EXPOSE"] == str(port)
    assert f"http://127.0.0.1:{port}/ready" in said["HEALTHCHECK"]
    assert said["USER"] == "reader"
    assert "RUN pip install --require-hashes -r requirements.lock" in lines
    [python] = [line for line in lines if line.startswith("FROM")]
    assert re.fullmatch(r"FROM python:3\.1[1-9]-slim", python)
