"""Every query of the documentation runs on small files, and asks for what such files hold."""

import re
from collections.abc import Iterator

import duckdb
import pytest
import transformers

from analysis.contracts import every_table
from analysis.scopes import EFFECTS, SCOPES
from tests.docs.written import PAGES, ROOT, everywhere, names, queries
from tests.shared_store import shared_store

VIEWS = {view.name for table in every_table() for view in table.all_views}
_NUMBER = re.compile(r"(\w+) (?:[=<>]|>=|<=) [\d.]+|(\w+) in \([\d, ]+\)")
EMPTY_IN_SMALL_FILES = {
    "from ratio_frequency_correlation where source = 'file'": "no list of frequencies is given",
    "select * from pair_delta, (select list(": "its texts name no months",
}
"""Beginnings of queries that find nothing there, with the reason."""


@pytest.fixture(scope="module")
def stores(tmp_path_factory) -> Iterator[list[duckdb.DuckDBPyConnection]]:
    """Files of an encoder on an annotated corpus, of a decoder, and of a vision model on images."""
    files = (
        shared_store(tmp_path_factory, "bert", annotated=True),
        shared_store(tmp_path_factory, "llama"),
        shared_store(tmp_path_factory, "vit"),
    )
    opened = [duckdb.connect(str(file), read_only=True) for file in files]
    yield opened
    for store in opened:
        store.close()


def n_rows(stores: list[duckdb.DuckDBPyConnection], query: str) -> int:
    """Number of rows of a query over all files, whatever numbers the query names.

    Small files have fewer layers, lengths and frequencies than those that the pages are about. A
    name in quotes must exist.
    """
    asked = _NUMBER.sub(lambda match: f"{match[1] or match[2]} is not null", query)
    for store in stores:
        store.execute(query).fetchall()
    return sum(len(store.execute(asked).fetchall()) for store in stores)


def test_every_query_runs_and_finds_something(stores):
    statements = sorted({query for _, query in everywhere(queries)})
    assert len(statements) > 40, "this test could not have failed"
    for query in statements:
        if not query.startswith(tuple(EMPTY_IN_SMALL_FILES)):
            assert n_rows(stores, query), f"{query} finds nothing"
        else:
            assert not n_rows(stores, query), f"{query} finds something after all"


@pytest.mark.parametrize(
    "query",
    [
        "from value_norm_dispersions",
        "from relation_share where effect = 'ff' and quantity = 'changes'",
        "from position_spectrum where source = 'querys' and layer = 1 order by max desc",
    ],
)
def test_a_wrong_query_would_be_seen(stores, query):
    page = f"So it is. `{query}`\n\n```sql\nfrom run;\n{query};\n```\n"
    assert queries(page) == ["from run", query, query]
    try:
        seen = not n_rows(stores, query)
    except duckdb.Error:
        seen = True
    assert seen


def test_every_view_in_a_table_of_questions_is_there():
    page = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    rows = [line.split("|")[3] for line in page.splitlines() if line.startswith("| ")]
    named = {name for cell in rows for name in names(re.sub(r"\([^)]*\)", "", cell))}
    assert len(named) > 60, "this test could not have failed"
    assert named <= VIEWS


def test_every_name_is_one_of_the_code():
    folders = ("analysis", "pages", "precompute", "tests/reference")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    words = {word for path in files for word in re.findall(r"\w+", path.read_text())}
    words |= {path.stem for path in files} | {*SCOPES, *EFFECTS} | {*transformers.CONFIG_MAPPING}
    for page in PAGES:
        unknown = set(names(page.read_text(encoding="utf-8"))) - words
        assert not unknown, f"{page.name}: {unknown}"
    assert "norms_of_nothing" not in words, "this test could not have failed"
