"""Metadata of the project: package, citation, changelog, hooks."""

import re
import tomllib
from datetime import date
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from analysis.sources import PAPERS
from precompute import __version__
from precompute.jobs.workers import RAY
from precompute.models.load_tokenizer import JAPANESE
from tests.docs.test_site import tracked
from tests.docs.written import ROOT

PACKAGES = ("analysis", "pages", "precompute")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_command_is_that_of_the_module():
    module, _, name = PROJECT["project"]["scripts"]["mixscope"].partition(":")
    assert vars(import_module(module))[name] is import_module("precompute.__main__").main


def test_the_version_and_the_dependencies_are_written_once():
    dynamic = PROJECT["tool"]["setuptools"]["dynamic"]
    assert PROJECT["project"]["dynamic"] == ["version", "dependencies"]
    assert dynamic["version"] == {"attr": "precompute.__version__"}
    assert dynamic["dependencies"] == {"file": ["requirements.txt"]}


def test_every_data_file_of_a_package_is_installed_with_it():
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    data = [
        Path(name)
        for name in tracked()
        if name.startswith(tuple(f"{package}/" for package in PACKAGES)) and name[-3:] != ".py"
    ]
    assert data, "this test could not have failed"
    for path in data:
        assert any(fnmatch(path.name, pattern) for pattern in patterns), path


def test_what_a_command_asks_to_install_is_the_extra():
    extras = PROJECT["project"]["optional-dependencies"]
    asked = {"cluster": RAY, "japanese": JAPANESE}
    assert {name: " ".join(packages) for name, packages in extras.items()} == asked
    tested = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").split()
    assert {package for packages in extras.values() for package in packages} <= set(tested)


def test_every_package_is_found_once():
    find = PROJECT["tool"]["setuptools"]["packages"]["find"]
    assert sorted(find["include"]) == sorted(["mixscope", *(f"{name}*" for name in PACKAGES)])
    [notebook] = [folder for folder in find["where"] if (ROOT / folder / "mixscope").is_dir()]
    assert find["where"] == [".", notebook]
    assert find["exclude"] == [f"{notebook.replace('/', '.')}*"]


def test_the_licence_is_named_alike_everywhere():
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert PROJECT["project"]["license"] == CITATION["license"] == "Apache-2.0"


def test_the_citation_is_complete():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "type", "authors", "version"} <= set(CITATION)
    assert CITATION["type"] == "software"
    assert CITATION["version"] == __version__
    assert isinstance(CITATION.get("date-released", date.min), date)
    for entry in (CITATION, *CITATION["references"]):
        assert entry["authors"], entry["title"]
        for author in entry["authors"]:
            assert set(author) <= {"name", "family-names", "given-names"}
            assert {"name"} <= set(author) or {"family-names"} <= set(author)


def test_the_citation_names_papers_as_the_code_does():
    papers = {paper.title: paper for paper in PAPERS.values()}
    for entry in CITATION["references"]:
        paper = papers[entry["title"]]
        assert (entry["year"], entry["url"]) == (paper.year, paper.url)
        assert [author["family-names"] for author in entry["authors"]] == paper.authors.split(", ")


def test_the_changelog_has_this_version_and_the_usual_headings():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)
    assert versions[0] == "Unreleased"
    assert __version__ in versions
    headings = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert headings <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


@pytest.mark.parametrize("hook", ["ruff-check", "ruff-format", "pyright"])
def test_hooks_before_a_commit_run_what_make_check_runs(hook):
    settings = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (local,) = settings["repos"]
    assert local["repo"] == "local"
    hooks = {entry["id"]: entry["entry"] for entry in local["hooks"]}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(RUN)", ".venv/bin/python")
    assert f"\t{hooks[hook]}" in makefile
