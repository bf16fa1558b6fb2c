"""Metadata of the project, its lock, and serving it: they agree with the code."""

import json
import re
import tomllib
from fnmatch import fnmatch
from importlib import import_module
from importlib.metadata import requires
from inspect import signature

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from analysis.sources import PAPERS
from precompute import __version__
from precompute.jobs.workers import RAY
from precompute.models.load_tokenizer import JAPANESE
from precompute.serve import _names, serve
from tests.docs.test_site import tracked
from tests.docs.written import ROOT, blocks, commands, text_of

PACKAGES = ("analysis", "pages", "precompute")
PROJECT = tomllib.loads(text_of("pyproject.toml"))
TOOLS = PROJECT["tool"]["setuptools"]
CITATION = yaml.safe_load(text_of("CITATION.cff"))


def test_the_command_is_that_of_the_module_and_version_and_dependencies_are_written_once():
    module, _, name = PROJECT["project"]["scripts"]["mixscope"].partition(":")
    assert vars(import_module(module))[name] is import_module("precompute.__main__").main
    assert PROJECT["project"]["dynamic"] == ["version", "dependencies"]
    assert TOOLS["dynamic"]["version"] == {"attr": "precompute.__version__"}
    assert TOOLS["dynamic"]["dependencies"] == {"file": ["requirements.txt"]}


def test_every_package_is_found_once_and_its_data_files_are_installed_with_it():
    find, patterns = TOOLS["packages"]["find"], TOOLS["package-data"]["*"]
    assert sorted(find["include"]) == sorted(["mixscope", *(f"{name}*" for name in PACKAGES)])
    [notebook] = [folder for folder in find["where"] if (ROOT / folder / "mixscope").is_dir()]
    assert find["where"] == [".", notebook]
    assert find["exclude"] == [f"{notebook.replace('/', '.')}*"]
    data = [name for name in tracked() if name.split("/")[0] in PACKAGES and name[-3:] != ".py"]
    assert data, "this test could not have failed"
    for name in data:
        assert any(fnmatch(name.rpartition("/")[2], pattern) for pattern in patterns), name


def test_what_a_command_asks_to_install_is_the_extra():
    extras = PROJECT["project"]["optional-dependencies"]
    asked = {"cluster": RAY, "japanese": JAPANESE}
    assert {name: " ".join(packages) for name, packages in extras.items()} == asked
    tested = text_of("requirements-dev.txt").split()
    assert {package for packages in extras.values() for package in packages} <= set(tested)


def test_the_citation_names_licence_version_and_papers_as_the_code_does():
    assert PROJECT["project"]["license"] == CITATION["license"] == "Apache-2.0"
    assert CITATION["version"] == __version__
    papers = {paper.title: paper for paper in PAPERS.values()}
    for entry in CITATION["references"]:
        paper = papers[entry["title"]]
        assert (entry["year"], entry["url"]) == (paper.year, paper.url)
        assert [author["family-names"] for author in entry["authors"]] == paper.authors.split(", ")


LOCK = text_of("requirements.lock")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def pins(text: str) -> list[Requirement]:
    """Requirements of a file, without hashes, options and comments."""
    joined = HASH.sub("", text.replace("\\\n", " ")).splitlines()
    named = (line.partition("#")[0].strip() for line in joined)
    return [Requirement(line) for line in named if line and not line.startswith("-")]


def test_the_lock_holds_the_requirements_and_what_they_bring_with_them():
    here = [pin for pin in pins(LOCK) if pin.marker is None or pin.marker.evaluate()]
    locked = {canonicalize_name(pin.name): pin.specifier for pin in here}
    asked = pins(text_of("requirements.txt"))
    for pin in asked:
        version = str(locked[canonicalize_name(pin.name)]).removeprefix("==")
        assert pin.specifier.contains(version), pin
    seen, left = set[str](), {canonicalize_name(pin.name) for pin in asked}
    while left:
        assert left <= {*locked}
        seen |= left
        needs = [Requirement(need) for name in left for need in requires(name) or ()]
        here = [need for need in needs if not need.marker or need.marker.evaluate({"extra": ""})]
        left = {canonicalize_name(need.name) for need in here} - seen
    assert len(seen) > 2 * len(asked), "this test could not have failed"


def test_all_that_is_locked_has_a_hash_and_neither_a_host_nor_a_path():
    entries = LOCK.replace("\\\n", " ").splitlines()
    assert len(entries) == len(pins(LOCK)) > 90
    assert not [entry for entry in entries if not HASH.search(entry)]
    assert not re.search(r"://|/|@|--(?!hash)", HASH.sub("", LOCK))


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
