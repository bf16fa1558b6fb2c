"""Sources to copy into a paper: the link, the bibliography, the SQL."""

import re

import duckdb
import pandas as pd
import pytest

from analysis.sources import PAPERS
from analysis.statistics.question import frame_of, literal, recorded_queries
from pages.export.shown import bibliography


@pytest.fixture
def page_of_tests() -> str:
    return "norms"


def test_what_is_heard_asks_the_same_again():
    asked = "select $wanted as name, $most as most, list_contains($many, 'b') as is_there"
    with duckdb.connect() as store:
        with recorded_queries() as queries:
            answer = frame_of(store, asked, {"wanted": "it's $most", "most": None, "many": ["b"]})
            frame_of(store, "select 1 as one")
        assert len(frame_of(store, "select 'unheard'")) == 1
        assert len(queries) == 2
        pd.testing.assert_frame_equal(store.execute(queries[0]).df(), answer)


def test_values_are_written_as_sql_reads_them():
    values = ["it's", True, 3, -2.5e-7, None, ["a", "'"]]
    with duckdb.connect() as store:
        written = ", ".join(map(literal, values))
        assert store.execute(f"select {written}").fetchall() == [tuple(values)]


def test_a_view_offers_its_link_its_papers_and_its_queries(section):
    session = section("frequency")
    link, bibliography, sql = (code.value for code in session.code[:3])
    assert "an_view=frequency" in link
    assert set(re.findall(r"@\w+\{([\w-]+),", bibliography)) == {"mixscope", "kobayashi-2020"}
    assert "title = {{Attention is Not Only a Weight" in bibliography
    assert "author = {Kobayashi, Goro and Kuribayashi, Tatsuki and" in bibliography
    assert "from " in sql
    assert "$" not in sql


FAMILIES = {"山本": "Yamamoto", "松崎": "Matsuzaki", "澤木": "Sawaki", "村田": "Murata"}


@pytest.mark.parametrize("key", PAPERS)
def test_every_paper_has_a_full_entry_that_agrees_with_the_code(key):
    entry, paper = bibliography((key,), "1.0").partition("\n@")[2], PAPERS[key]
    kind, _, rest = entry.partition("{")
    assert kind in {"article", "incollection", "inproceedings"}
    assert rest.startswith(f"{key},")
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, re.MULTILINE))
    authors = [name.strip("{}").split(", ") for name in fields["author"].split(" and ")]
    families = [FAMILIES[name[0]] if name[0] in FAMILIES else name[0] for name in authors]
    assert ", ".join(families) == paper.authors
    assert key in {"openai-2025", "cunningham-2026"} or all(len(name) == 2 for name in authors)
    title = fields["title"].strip("{}").replace("\\&", "&")
    assert (title, fields["year"], fields["url"]) == (paper.title, str(paper.year), paper.url)
    assert {"journal", "booktitle"} & set(fields)
    assert entry.count("{") == entry.count("}")
