"""Collections survive a round trip, look the same elsewhere, and run nothing."""

import csv
import io
import re
import zipfile
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import altair as alt
import pandas as pd

from pages.charts.chart_theme import with_data
from pages.export.collection import MOST_ITEMS, Collection
from pages.export.item import MOST_ROWS, Item, table_of
from pages.export.markup import clean
from pages.export.paper import paper
from pages.export.web import web_page

HOSTILE = '<script>alert(1)</script> & "[SEP]" 100%_$x$'
FRAME = pd.DataFrame({"token": [HOSTILE, "[SEP]"], "share": [0.25, None], "n": [3, 4]})
CHART = with_data(
    alt.Chart(FRAME).mark_bar().encode(x="share:Q", y="token:N").properties(height=80)
)
FIGURE = Item(
    question=f"Where? {HOSTILE}",
    finding="Layer 3 gives 5% to [SEP]. It gives less elsewhere.",
    caption="Means over 9 texts.",
    source=f"File {HOSTILE}.",
    link="http://127.0.0.1:8501/head-map?file=demo.duckdb",
    version="0.1",
    papers=("clark-2019",),
    chart=CHART,
)
TABLE = replace(
    FIGURE, question="Which?", chart=None, **table_of(FRAME.rename(columns={"n": "tokens"}))
)
TEXT = replace(TABLE, question="What?", body='<div class="an-text"><span title="a">b</span></div>')
COLLECTION = Collection("ρ & more", (FIGURE, TABLE, TEXT))


def test_a_view_is_collected_once_and_a_full_collection_takes_no_more():
    assert COLLECTION.with_item(replace(FIGURE, note="again")) == COLLECTION
    other = replace(FIGURE, link="http://127.0.0.1:8501/head-map?file=other.duckdb")
    assert COLLECTION.with_item(other).items[-1] == other
    full = Collection(items=tuple(replace(FIGURE, question=str(n)) for n in range(MOST_ITEMS)))
    assert full.is_full
    assert full.with_item(FIGURE) == full


def test_items_are_moved_noted_and_removed():
    assert COLLECTION.moved(2, 0).items == (TEXT, FIGURE, TABLE)
    assert COLLECTION.noted(1, "so").items[1].note == "so"
    assert COLLECTION.without(1).items == (FIGURE, TEXT)


def test_of_a_long_table_the_first_rows_are_collected_and_all_are_counted():
    long = table_of(pd.DataFrame({"n": range(MOST_ROWS + 1)}))
    assert len(long["rows"]) == MOST_ROWS
    assert long["n_rows"] == MOST_ROWS + 1


def test_markup_of_strangers_keeps_its_words_and_nothing_that_runs():
    body = (
        '<div class="an-text" onclick="x()" style="background: rgba(1, 2, 3, 0.5); position: fixed"'
        '>a<img src="http://example.org"><script>b</script><a href="http://example.org">c</a></div>'
    )
    kept = clean(body)
    assert ">ac</div>" in kept
    assert "background" in kept
    assert not re.search("onclick|position|img|script|href", kept)


def test_the_web_page_runs_its_own_scripts_alone_and_fetches_nothing():
    page = web_page(COLLECTION)
    policy = re.search('Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert "default-src 'none'" in policy[1]
    scripts = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in scripts]
    assert policy[1].split("script-src ")[1] == " ".join(f"'sha256-{digest}'" for digest in hashes)
    assert "<script>alert" not in page
    assert not re.search(
        r"<(?:img|link|iframe)|\ssrc=", re.sub("<script.*?</script>", "", page, flags=re.DOTALL)
    )
    assert "Layer 3 gives 5% to [SEP]." in page
    assert "clark-2019" in page
    assert '<span title="a">b</span>' in page


def test_the_paper_has_every_figure_table_and_source():
    with zipfile.ZipFile(io.BytesIO(paper(COLLECTION))) as files:
        names = files.namelist()
        document = files.read("report.tex").decode()
        [table] = [name for name in names if "02-which" in name]
        rows = list(csv.reader(io.StringIO(files.read(table).decode("utf-8-sig"))))
        references = files.read("references.bib").decode()
    figures = re.findall(r"\{(figures/[^}]*)\}", document)
    assert len(figures) == 1
    assert set(figures) <= set(names)
    assert rows[2] == ["[SEP]", "", "4"]
    assert r"\title{\(\rho\) \& more}" in document
    assert r"100\%\_\$x\$" in document
    assert "{[}SEP]" in document
    assert "@misc{clark-2019" in references
