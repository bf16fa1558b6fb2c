"""The site builds, its links and paths lead somewhere, and the README is short."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from analysis.contracts import every_table
from docs.contract import contract, definitions
from precompute.command_line import app
from tests.docs.written import PAGES, ROOT, everywhere, paths

LINK = re.compile(r"\]\(([^)#\s]+)")
MOST_BYTES = 6_000


@pytest.fixture(autouse=True, scope="module")
def _no_advertisement():
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("NO_MKDOCS_2_WARNING", "1")
        yield


def build_site(folder: Path, **settings: str) -> Path:
    site = folder / "site"
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(site), **settings))
    return site


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    return build_site(tmp_path_factory.mktemp("site"))


def test_the_site_builds_without_a_warning(site):
    assert {f"{page.stem}.html" for page in (ROOT / "docs").glob("*.md")} < {
        page.name for page in site.glob("*.html")
    }
    assert (site / "contract.html").is_file()
    assert not list(site.glob("*.py"))


def test_the_site_fetches_nothing_from_elsewhere(site):
    fetched = re.compile(r"<(?:link|script|img)[^>]+(?:href|src)=\"?https?://")
    for page in site.glob("*.html"):
        assert not fetched.search(page.read_text(encoding="utf-8")), page.name
    assert fetched.search('<script src="https://example.org/a.js">')


@pytest.mark.parametrize("link", ["nothing.md", "running.md#nothing"])
def test_a_broken_link_would_be_seen(tmp_path, link):
    docs = shutil.copytree(ROOT / "docs", tmp_path / "docs")
    with (docs / "index.md").open("a", encoding="utf-8") as page:
        page.write(f"\n[See]({link})\n")
    with pytest.raises(Abort):
        build_site(tmp_path, docs_dir=str(docs))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_outside_the_site_lead_somewhere(name):
    links = LINK.findall((ROOT / name).read_text(encoding="utf-8"))
    assert links, "this test could not have failed"
    for link in links:
        assert link.startswith("https://") or (ROOT / link).is_file(), link


def test_the_readme_is_short_and_has_the_commands_that_set_up():
    text = (ROOT / "README.md").read_bytes()
    assert len(text) <= MOST_BYTES
    assert b"\nmake demo " in text
    assert b"\nmake test " in text


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, text=True, capture_output=True
    )
    return listed.stdout.splitlines()


def test_every_path_exists():
    folders = {name.split("/")[0] for name in tracked() if "/" in name}
    uses = set(everywhere(lambda text: paths(text, folders)))
    assert len(uses) > 25, "this test could not have failed"
    assert not [(page, path) for page, path in uses if not _exists(path)]
    assert not _exists("analysis/models/<family>.rs"), "this test could not have failed"


def _exists(path: str) -> bool:
    """Return True if the path exists; a placeholder in angles stands for any name."""
    return any(ROOT.glob(re.sub(r"<\w+>", "*", path.rstrip("/"))))


def test_the_contract_has_every_view_with_its_columns_and_every_command():
    page = contract()
    for table in every_table():
        for view in table.all_views:
            _, _, section = page.partition(f"\n### {view.name}\n")
            section = section.partition("\n### ")[0]
            assert section, view.name
            for column in view.columns:
                assert f"| `{column.name}` |" in section, f"{view.name}.{column.name}"
        for law in table.laws:
            assert f"- `{' '.join(law.split())}`" in page
    for command in app.registered_commands:
        assert command.callback
        assert f"### mixscope {command.name or command.callback.__name__}\n" in page


def test_the_definitions_have_every_meaning_of_a_number_with_its_views():
    rows = [line.strip("| ").split(" | ") for line in definitions().splitlines()]
    rows = [row for row in rows if len(row) == 4]
    shares = {row[3]: row[1] for row in rows if row[0] == "`norm_share`"}
    of_rates = shares.pop("`sink_rate`")
    assert of_rates.startswith("heads whose norm_share is above the threshold")
    of_types = {"`token_type_interval`", "`token_type_mixing`"}
    assert set(shares) == of_types | {"`sink`", "`sequence_sink`"}
    assert all(meaning.startswith("share of ‖αf(x)‖") for meaning in shares.values())
    assert len(set(shares.values())) == 4, "other queries and sequences are another meaning"
    listed = {(row[0].strip("`"), view.strip("`")) for row in rows for view in row[3].split(", ")}
    views = [view for table in every_table() for view in table.all_views]
    named = [(name, view.name) for view in views for c in view.columns for name in c.quantities]
    assert len(named) > 50
    assert set(named) < listed


def test_no_page_is_left_behind():
    stems = {page.stem for page in PAGES if page.parent.name == "docs"}
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    linked = {link.removesuffix(".md") for link in LINK.findall(index)}
    assert stems - {"index"} <= linked
