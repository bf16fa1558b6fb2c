"""Exports can be opened and name their sources; a report is collected, kept, opened and shown."""

import csv
import io
import json
import re
import zipfile
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from typing import Any
from unittest.mock import Mock

import altair as alt
import pandas as pd
import pytest

from analysis.sources import PAPERS
from pages.charts.chart_theme import with_data
from pages.charts.plots import Bars
from pages.export import files as export
from pages.export import paper as paper_module
from pages.export.collection import _KEY, MOST_ITEMS, Collection, Kept, read
from pages.export.drawing import NotDrawn
from pages.export.item import Item, clean, table_of
from pages.export.paper import paper
from pages.export.shown import bibliography
from pages.export.web import web_page
from pages.words import say
from pages.words.say import plain
from tests.pages.conftest import assert_sound, sentences

pytestmark = pytest.mark.slow


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
    address="head-map?file=demo.duckdb&hm_view=map#by_layer",
    version="0.1",
    papers=("clark-2019",),
    queries=("select 1",),
    chart=CHART,
    **table_of(FRAME.rename(columns={"n": "tokens"})),
)
TABLE = replace(FIGURE, question="Which?", chart=None, address="syntax?sy_view=relations#best")
TEXT = replace(TABLE, question="What?", body='<div class="an-text"><span title="a">b</span></div>')
ITEMS = (FIGURE, TABLE, TEXT)
KEPT = tuple(
    Kept(f"layer-mixing?file=tiny.duckdb&lm_view=ratio#{name}")
    for name in ("curves", "table", "map")
)
COLLECTION = Collection("ρ & more", KEPT)


def test_what_is_collected_on_a_page_is_in_the_report(opened, store_folder):
    session = opened("layer_mixing", store_folder, lm_view="ratio", lm_type="sep")
    question = session.subheader[0].value
    for word in ("Collected", "already"):
        key = next(
            control.key for control in session.button if (control.key or "").endswith("-collect")
        )
        session.button(key=key).click().run()
        assert word in session.toast[-1].value
    [item] = session.session_state[_KEY].items
    assert item.address.startswith("layer-mixing?lm_view=ratio")
    assert item.address.endswith("#curves")
    assert "lm_type=sep" in item.address
    session.switch_page("report/page.py").run()
    assert_sound(session)
    assert plain(question) in {heading.value for heading in session.subheader}


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
    page = web_page("ρ & more", ITEMS)
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
    assert "127.0.0.1" not in page


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("layer-mixing?file=gone.duckdb&lm_view=ratio#curves", "no file gone.duckdb"),
        ("layer-mixing?file=tiny.duckdb&content=0&lm_view=ratio#curves", "has been replaced"),
        ("layer-mixing?file=tiny.duckdb&lm_view=ratio#none", "does not show this figure"),
        ("relevance?file=tiny.duckdb&re_view=map#grid", "Choose an image"),
    ],
)
def test_a_figure_that_is_not_there_says_so_in_its_place(opened, store_folder, address, reason):
    session = opened("report", store_folder, alone=True)
    session.session_state[_KEY] = Collection(items=(Kept(address),))
    assert_sound(session.run())
    assert reason in sentences(session).replace("\\", "")
    assert not session.get("imgs")


def test_a_chart_that_cannot_be_drawn_is_said_to_be(monkeypatch):
    monkeypatch.setattr(export, "svg", Mock(side_effect=NotDrawn("slow")))
    with zipfile.ZipFile(io.BytesIO(paper("", ITEMS))) as files:
        assert "could not be drawn" in files.read("report.tex").decode()
        assert not [name for name in files.namelist() if name.startswith("figures")]


def test_a_view_is_collected_once_and_a_full_collection_takes_no_more():
    assert COLLECTION.with_item(replace(KEPT[0], note="again")) == COLLECTION
    full = Collection(items=tuple(Kept(str(n)) for n in range(MOST_ITEMS)))
    assert full.with_item(KEPT[0]) == full
    noted = COLLECTION.noted(1, HOSTILE)
    assert read(noted.written()) == noted


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/layer-mixing?lm_view=ratio#curves",
        "//example.org?lm_view=ratio#curves",
        "layer-mixing#curves",
        "nowhere?lm_view=ratio#curves",
        f"layer-mixing?lm_view=ratio&more={'x' * 9_000}#curves",
    ],
)
def test_what_is_no_address_of_a_figure_is_left_out(address):
    items = [{"address": address}, {"address": KEPT[0].address}]
    assert read(json.dumps({"title": "t", "items": items})) == Collection("t", KEPT[:1])


def test_the_paper_has_every_figure_table_and_source_in_the_language_of_its_readers(monkeypatch):
    with zipfile.ZipFile(io.BytesIO(paper("ρ & more", ITEMS))) as files:
        names = files.namelist()
        document = files.read("report.tex").decode()
        [table] = [name for name in names if "02-syntax-best" in name]
        rows = list(csv.reader(io.StringIO(files.read(table).decode("utf-8-sig"))))
        assert "{clark-2019," in files.read("references.bib").decode()
    [figure] = re.findall(r"\{(figures/[^}]*)\}", document)
    assert figure in names
    assert rows[2] == ["[SEP]", "", "4"]
    for written in (r"\title{\(\rho\) \& more}", r"100\%\_\$x\$", "{[}SEP]", "% select 1"):
        assert written in document
    assert "luatexja" not in document
    for module in (say, paper_module):
        monkeypatch.setattr(module, "language", lambda: "ja")
    with zipfile.ZipFile(io.BytesIO(paper("", ITEMS))) as files:
        assert "luatexja" in files.read("report.tex").decode()


ROWS = pd.DataFrame(
    {
        "layer": [1, 1, 2, 2],
        "head": [1, 2, 1, 2],
        "token_type": ["sep", "cls", "sep", "cls"],
        "mean": [0.1, 0.2, 0.3, None],
        "low": [0.05, 0.1, 0.2, 0.3],
        "high": [0.2, 0.3, 0.4, 0.5],
    }
)


def bars() -> Any:
    return Bars(colour="token_type").draw(ROWS, "", {})


def test_a_view_offers_its_link_its_papers_and_its_queries(opened, store_folder):
    session = opened("norms", store_folder, an_view="frequency")
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


def test_csv_gives_the_frame_back_and_opens_in_spreadsheets():
    frame = ROWS.rename(columns={"layer": "層"})
    written = export.csv(frame)
    assert written.startswith("\ufeff".encode())
    pd.testing.assert_frame_equal(pd.read_csv(io.BytesIO(written)), frame)


def test_a_figure_is_as_wide_as_two_columns_with_whole_sentences_and_its_source():
    said = [f"Layer {n} gives it {'much ' * 9}weight." for n in range(9)]
    picture = export.svg(bars(), " ".join(said), "File <x>: model m.", "select 1 < 2")
    [width] = re.findall('<svg[^>]* width="([0-9.]+)"', picture)
    assert float(width) == pytest.approx(export.WIDTH, abs=4)
    shown = " ".join(re.sub("<[^>]+>", " ", picture).split())
    kept = [sentence for sentence in said if sentence in shown]
    assert 2 < len(kept) < len(said)
    assert f"Layer {len(kept)} gives" not in shown
    assert "File &lt;x&gt;: model m." in picture
    assert picture.endswith("<metadata>select 1 &lt; 2</metadata></svg>")
