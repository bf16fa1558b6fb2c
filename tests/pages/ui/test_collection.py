"""Collections survive a round trip, look the same elsewhere, and run nothing."""

import csv
import io
import json
import re
import time
import zipfile
from base64 import b64encode
from dataclasses import asdict, replace
from hashlib import sha256

import altair as alt
import pandas as pd
import pytest

from analysis.upload_bounds import UPLOAD_BYTES
from pages.ui.collection.collection import MOST_ITEMS, Collection, collection_from
from pages.ui.collection.item import MOST_ROWS, Item, NotCollected, item_from, table_of
from pages.ui.collection.markup import LONGEST, clean
from pages.ui.collection.paper import paper
from pages.ui.collection.web import web_page
from pages.ui.export.files import with_data
from tests.pages.kit.hostile_charts import ENDLESS, SOUND

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


def test_a_collection_comes_back_as_it_was():
    assert collection_from(COLLECTION.to_json()) == COLLECTION
    assert TABLE.columns == ("token", "share", "tokens")
    assert TABLE.rows[1] == ("[SEP]", None, 4)


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


REFUSED = {
    "no link that runs": ({"link": "javascript:alert(1)"}, "link"),
    "no picture from elsewhere": (
        {"chart": {**CHART, "mark": {"type": "image", "url": "http://example.org/a.png"}}},
        "http://example.org",
    ),
    "no chart": ({"chart": {"mark": "bar", "encoding": 3}}, "is not Vega-Lite"),
    "no text": ({"note": 3}, "note"),
    "no paper": ({"papers": ["nobody-1900"]}, "papers"),
    "no row of another length": ({"columns": ["a"], "rows": [[1, 2]]}, "['rows'][0]"),
    "no more columns than a table has": ({"columns": ["a"] * 257}, "...] is too long"),
    "no markup that a report has not": ({"body": "<div><a>b</a></div>"}, "['body']: is no markup"),
    "no markup that is closed in another order": ({"body": "<b><i></b></i>"}, "letter 7"),
    "no markup that is left open": ({"body": '<b title="a">'}, "does not close <b>"),
    "no markup that is deep": ({"body": "<b>" * 33 + "</b>" * 33}, "nests more than 32"),
    "no cell with parts": ({"columns": ["a"], "rows": [[{"b": 1}]]}, "rows"),
    "no further field": ({"more": 1}, "more"),
}


@pytest.mark.parametrize(("change", "named"), REFUSED.values(), ids=REFUSED)
def test_an_item_that_is_none_is_refused_by_name(change, named):
    with pytest.raises(NotCollected, match=re.escape(named)):
        item_from(json.loads(json.dumps(asdict(FIGURE))) | change)


def test_a_sound_chart_is_taken():
    assert item_from(json.loads(json.dumps(asdict(FIGURE))) | {"chart": SOUND}).chart == SOUND


@pytest.mark.parametrize(("chart", "named"), ENDLESS.values(), ids=ENDLESS)
def test_a_chart_that_could_have_no_end_is_refused_by_its_place(chart, named):
    with pytest.raises(NotCollected, match=re.escape(named)) as refused:
        item_from(asdict(FIGURE) | {"chart": chart, "papers": [], "columns": [], "rows": []})
    assert "['chart']" in refused.value.place
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 3_000_000,
        "<div>" * (LONGEST // 5),
        "".join(f'<b title="{n}">' for n in range(100_000)),
        "<i></div>" * (LONGEST // 9),
        "<div " * (LONGEST // 5),
    ],
    ids=["of 15 MB", "nested", "of as many kinds", "closed in another order", "broken off"],
)
def test_markup_that_would_take_minutes_is_refused_at_once(body):
    started = time.process_time()
    with pytest.raises(NotCollected, match="body"):
        item_from(json.loads(json.dumps(asdict(TEXT))) | {"body": body})
    assert time.process_time() - started < 1


def test_long_markup_of_a_report_is_taken_as_it_is():
    body = clean(
        '<div class="an-text">' + '<span title="&lt;a> é">b & c</span>' * 20_000 + "</div>"
    )
    assert item_from(json.loads(json.dumps(asdict(TEXT))) | {"body": body}).body == body


@pytest.mark.parametrize(
    "text",
    [
        b"\xff",
        b" " * (UPLOAD_BYTES + 1),
        "",
        "[]",
        "{",
        '{"mixscope_collection": 2}',
        "[" * 100000,
        json.dumps({"mixscope_collection": 1, "title": "", "items": [{}] * (MOST_ITEMS + 1)}),
    ],
)
def test_a_file_that_is_no_collection_is_refused(text):
    with pytest.raises(NotCollected, match="file"):
        collection_from(text)


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
        assert collection_from(files.read("collection.json")) == COLLECTION
        references = files.read("references.bib").decode()
    figures = re.findall(r"\{(figures/[^}]*)\}", document)
    assert len(figures) == 1
    assert set(figures) <= set(names)
    assert rows[2] == ["[SEP]", "", "4"]
    assert r"\title{\(\rho\) \& more}" in document
    assert r"100\%\_\$x\$" in document
    assert "{[}SEP]" in document
    assert "@misc{clark-2019" in references
