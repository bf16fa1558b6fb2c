"""Metadata of the project: package, citation, changelog, hooks."""

import re
import tomllib
from datetime import date
from fnmatch import fnmatch
from importlib import import_module

import yaml

from analysis.sources import PAPERS
from precompute import __version__
from precompute.jobs.workers import RAY
from precompute.models.load_tokenizer import JAPANESE
from tests.docs.test_site import tracked
from tests.docs.written import ROOT, text_of

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


def test_the_citation_is_complete_under_one_licence_and_names_papers_as_the_code_does():
    assert "Apache License" in text_of("LICENSE")
    assert "END OF TERMS AND CONDITIONS" in text_of("LICENSE")
    assert PROJECT["project"]["license"] == CITATION["license"] == "Apache-2.0"
    assert {"message", "title", "authors"} <= set(CITATION)
    known = ("cff-version", "type", "version")
    assert [CITATION[name] for name in known] == ["1.2.0", "software", __version__]
    assert isinstance(CITATION.get("date-released", date.min), date)
    for author in CITATION["authors"]:
        assert {"name"} <= set(author) or {"family-names"} <= set(author)
    papers = {paper.title: paper for paper in PAPERS.values()}
    for entry in CITATION["references"]:
        paper = papers[entry["title"]]
        assert (entry["year"], entry["url"]) == (paper.year, paper.url)
        assert [author["family-names"] for author in entry["authors"]] == paper.authors.split(", ")


def test_the_changelog_has_this_version_and_the_usual_headings():
    versions = re.findall(r"^## \[(.+?)\]", text_of("CHANGELOG.md"), re.MULTILINE)
    assert versions[0] == "Unreleased"
    assert __version__ in versions
    headings = set(re.findall(r"^### (.+)$", text_of("CHANGELOG.md"), re.MULTILINE))
    assert headings <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_hooks_before_a_commit_run_what_make_check_runs():
    (local,) = yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"]
    hooks = {entry["id"]: entry["entry"] for entry in local["hooks"]}
    assert {"ruff-check", "ruff-format", "pyright"} <= set(hooks)
    makefile = text_of("Makefile").replace("$(RUN)", ".venv/bin/python")
    for hook in ("ruff-check", "ruff-format", "pyright"):
        assert f"\t{hooks[hook]}" in makefile
