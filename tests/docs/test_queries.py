"""Every query of the documentation runs on small files, and asks for what such files hold."""

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import transformers

from analysis.contracts import every_table
from analysis.scopes import EFFECTS, SCOPES
from precompute.run import Request
from tests.docs.written import PAGES, ROOT, everywhere, names, queries, text_of
from tests.shared_store import shared_run, shared_store
from tests.small_store import request

Store = duckdb.DuckDBPyConnection
_LINES = text_of("tests/docs/same_numbers.sql").splitlines()
_QUERIES = [line for line in _LINES if line.endswith(";")]
SAME = list(zip(_QUERIES[::2], _QUERIES[1::2], strict=True))
VIEWS = {view.name for table in every_table() for view in table.all_views}
_NUMBER = re.compile(r"(\w+) (?:[=<>]|>=|<=) [\d.]+|(\w+) in \([\d, ]+\)")
EMPTY_IN_SMALL_FILES = {
    "from ratio_frequency_correlation where source = 'file'": "no list of frequencies is given",
    "select * from pair_delta, (select list(": "its texts name no months",
}
"""Beginnings of queries that find nothing there, with the reason."""


def texts_without_types(folder: Path) -> Request:
    (folder / "text.txt").write_text("The dog\n\nThe cat sat, the dog ran.\n\nDog cat")
    return request(folder, statistics=["-layers", "-pairs", "-checks", "-relevance"])


@pytest.fixture(scope="module")
def stores(tmp_path_factory) -> Iterator[list[Store]]:
    """Files of an encoder on an annotated corpus, of a decoder, of a vision model on images, and
    one where texts lack types."""
    files = (
        shared_store(tmp_path_factory, "bert", annotated=True),
        shared_store(tmp_path_factory, "llama"),
        shared_store(tmp_path_factory, "vit"),
        shared_run(tmp_path_factory, "types", texts_without_types)[0].output,
    )
    opened = [duckdb.connect(str(file), read_only=True) for file in files]
    fewer = "from token_type_interval where n_sequences < (select run.n_sequences from run)"
    assert opened[-1].execute(fewer).fetchall()
    yield opened
    for store in opened:
        store.close()


def n_rows(stores: list[Store], query: str) -> int:
    """Number of rows of a query over all files, whatever numbers the query names."""
    asked = _NUMBER.sub(lambda match: f"{match[1] or match[2]} is not null", query)
    every = [(store, sql) for store in stores for sql in {query, asked}]
    return sum(len(store.execute(sql).fetchall()) for store, sql in every)


def test_every_query_runs_and_finds_something(stores):
    statements = sorted({query for _, query in everywhere(queries)})
    assert len(statements) > 40, "this test could not have failed"
    for query in statements:
        if not query.startswith(tuple(EMPTY_IN_SMALL_FILES)):
            assert n_rows(stores, query), f"{query} finds nothing"
        else:
            assert not n_rows(stores, query), f"{query} finds something after all"


def values(store: Store, query: str) -> dict[tuple, object]:
    """Values of a query by their keys."""
    return {row[:-1]: row[-1] for row in store.execute(query).fetchall()}


@pytest.mark.parametrize(("first", "second"), SAME)
def test_two_views_of_the_same_quantity_hold_one_number(first, second, stores):
    """To rounding of float32, relative to a value."""
    for store in stores:
        one, other = values(store, first), values(store, second)
        assert set(one) <= set(other)
        assert one == pytest.approx({key: other[key] for key in one}, rel=2e-6, abs=2e-6)
    assert any(values(store, first) for store in stores), "this test could not have failed"


def test_every_view_in_a_table_of_questions_is_there():
    rows = [
        line.split("|")[3]
        for line in text_of("docs/measures.md").splitlines()
        if line.startswith("| ")
    ]
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
