"""The site builds, its links and paths lead somewhere, and the README is short."""

import re
import subprocess

from mkdocs.commands.build import build
from mkdocs.config import load_config

from analysis.contracts import every_table
from docs.contract import contract, definitions
from precompute.command_line import app
from tests.docs.written import PAGES, ROOT, everywhere, paths, text_of

LINK = re.compile(r"\]\(([^)#\s]+)")
MOST_BYTES = 6_000


def test_the_site_builds_without_a_warning_and_fetches_nothing_from_elsewhere(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    site = tmp_path / "site"
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(site)))
    pages = {page.name: page.read_text(encoding="utf-8") for page in site.glob("*.html")}
    named = {f"{page.stem}.html" for page in (ROOT / "docs").glob("*.md")}
    assert named | {"contract.html"} <= set(pages)
    assert not list(site.glob("*.py"))
    fetched = re.compile(r"<(?:link|script|img)[^>]+(?:href|src)=\"?https?://")
    assert fetched.search('<script src="https://example.org/a.js">')
    assert not [name for name, text in pages.items() if fetched.search(text)]


def test_links_outside_the_site_lead_somewhere_and_the_readme_is_short():
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        links = LINK.findall(text_of(name))
        assert links, "this test could not have failed"
        for link in links:
            assert link.startswith("https://") or (ROOT / link).is_file(), link
    assert len((ROOT / "README.md").read_bytes()) <= MOST_BYTES
    assert all(f"\nmake {target} " in text_of("README.md") for target in ("demo", "test"))
    index = {link.removesuffix(".md") for link in LINK.findall(text_of("docs/index.md"))}
    stems = {page.stem for page in PAGES if page.parent.name == "docs"}
    assert stems - {"index"} <= index, "no page is left behind"


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
