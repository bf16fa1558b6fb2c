"""Way from a chart to a report: collect, note, keep, open and show as slides; nothing runs."""

import csv
import io
import json
import re
import zipfile
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import altair as alt
import pandas as pd
import pytest
import streamlit as st

from pages.charts.chart_theme import with_data
from pages.export import files as export
from pages.export import paper as paper_module
from pages.export.collection import _KEY, _TOLD, MOST_ITEMS, Collection, Kept, place_of, read
from pages.export.drawing import NotDrawn
from pages.export.item import Item, _off_the_page, clean, table_of
from pages.export.paper import paper
from pages.export.web import web_page
from pages.report import listed
from pages.words import say
from pages.words.say import plain
from tests.pages.conftest import assert_sound, bodies, sentences

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


def shown(opened, folder, address: str):
    """The report on one address."""
    session = opened("report", folder, alone=True)
    session.session_state[_KEY] = Collection(items=(Kept(address),))
    session.run()
    assert_sound(session)
    return session


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("layer-mixing?file=gone.duckdb&lm_view=ratio#curves", "no file gone.duckdb"),
        ("layer-mixing?file=tiny.duckdb&content=0&lm_view=ratio#curves", "has been replaced"),
        ("layer-mixing?file=tiny.duckdb&lm_view=ratio#none", "does not show this figure"),
        ("layer-mixing?file=tiny.duckdb&lm_view=none#curves", "does not show this figure"),
        ("relevance?file=tiny.duckdb&re_view=map#grid", "Choose an image"),
    ],
)
def test_a_figure_that_is_not_there_says_so_in_its_place(opened, store_folder, address, reason):
    session = shown(opened, store_folder, address)
    assert reason in sentences(session).replace("\\", "")
    assert not session.get("imgs")


def test_a_comparison_is_collected_as_it_is_chosen(opened, store_folder):
    address = "layer-mixing?file=tiny.duckdb&lm_view=similarity#matrix"
    alone = shown(opened, store_folder, address)
    beside = "lm_matrix_beside=lm_layer%3D1"
    both = shown(opened, store_folder, address.replace("#", f"&{beside}#"))
    assert sentences(alone) != sentences(both)


def test_a_slide_shows_one_item_and_leads_to_its_neighbours(opened, store_folder):
    session = opened("report", store_folder, alone=True, present="True", slide="2")
    session.session_state[_KEY] = COLLECTION
    session.run()
    assert "<table>" in bodies(session)
    session.button(key="slide-Left").click().run()
    assert "<img " in bodies(session)
    assert "<table>" not in bodies(session)
    assert session.button(key="slide-Left").disabled
    session.button(key="slide-Escape").click().run()
    assert session.text_area
    assert_sound(session)


def test_what_the_browser_keeps_is_taken(opened, store_folder):
    session = opened("methods", store_folder, alone=False)
    assert 'data-kept=""' in bodies(session)
    session.text_input(key=_TOLD).set_value(f"1 {COLLECTION.written()}").run()
    assert session.session_state[_KEY] == COLLECTION
    session.text_input(key=_TOLD).set_value("2 nonsense").run()
    assert session.session_state[_KEY] == Collection()
    assert "items" in bodies(session)


def test_a_chart_that_cannot_be_drawn_is_said_to_be(opened, store_folder, monkeypatch):
    def fail(*_: object, **__: object) -> str:
        raise NotDrawn("slow")

    st.cache_data.clear()
    monkeypatch.setattr(listed, "picture", lambda *_: b"")
    monkeypatch.setattr(export, "svg", fail)
    session = opened("report", store_folder, alone=True)
    session.session_state[_KEY] = COLLECTION
    session.run()
    assert_sound(session)
    assert [warning.value for warning in session.warning if "could not be drawn" in warning.value]
    with zipfile.ZipFile(io.BytesIO(paper("", ITEMS))) as files:
        assert "could not be drawn" in files.read("report.tex").decode()
        assert not [name for name in files.namelist() if name.startswith("figures")]


def test_a_view_is_collected_once_and_a_full_collection_takes_no_more():
    assert COLLECTION.with_item(replace(KEPT[0], note="again")) == COLLECTION
    other = Kept("layer-mixing?file=other.duckdb&lm_view=ratio#curves")
    assert COLLECTION.with_item(other).items[-1] == other
    full = Collection(items=tuple(Kept(str(n)) for n in range(MOST_ITEMS)))
    assert full.is_full
    assert full.with_item(KEPT[0]) == full


def test_a_collection_is_written_as_addresses_and_read_again():
    noted = COLLECTION.noted(1, HOSTILE)
    assert read(noted.written()) == noted
    assert set(json.loads(noted.written())["items"][0]) == {"address", "note"}


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/layer-mixing?lm_view=ratio#curves",
        "//example.org?lm_view=ratio#curves",
        "layer-mixing#curves",
        "report?rp_view=slides",
        "nowhere?lm_view=ratio#curves",
        f"layer-mixing?lm_view=ratio&more={'x' * 9_000}#curves",
    ],
)
def test_what_is_no_address_of_a_figure_is_left_out(address):
    assert place_of(address) is None
    written = json.dumps(
        {"title": "t", "items": [{"address": address}, {"address": KEPT[0].address}]}
    )
    assert read(written) == Collection("t", KEPT[:1])


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"title": 1, "items": 3}', '{"items": []}', "[" * 9_999]
)
def test_what_is_no_collection_is_refused(text):
    with pytest.raises(ValueError, match="no collection"):
        read(text)


@pytest.mark.parametrize(
    ("caption", "kept"),
    [
        ("Mean over texts; click a head to choose it.", "Mean over texts."),
        (
            "Ringed: the chosen head. Click a cell to choose it. Figure 3.",
            "Ringed: the chosen head. Figure 3.",
        ),
        ("A click on a column sorts by it; the icons search.", ""),
        ("点は個々のヘッド（クリックで選択）。丸は選択中。", "点は個々のヘッド。丸は選択中。"),
        ("テキストの平均。クリックでヘッドを選べます。", "テキストの平均。"),
    ],
)
def test_a_caption_off_the_page_tells_nobody_to_click(caption, kept):
    assert _off_the_page(caption) == kept


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
    assert page.count('<div class="table">') == 3, (
        "numbers stand behind the chart and the text, too"
    )


def test_the_paper_is_in_the_language_of_its_readers(monkeypatch):
    for module in (say, paper_module):
        monkeypatch.setattr(module, "language", lambda: "ja")
    with zipfile.ZipFile(io.BytesIO(paper("", ITEMS))) as files:
        document = files.read("report.tex").decode()
    assert "luatexja" in document
    assert "Mixscope レポート" in document


def test_the_paper_has_every_figure_table_and_source():
    with zipfile.ZipFile(io.BytesIO(paper("ρ & more", ITEMS))) as files:
        names = files.namelist()
        document = files.read("report.tex").decode()
        [table] = [name for name in names if "02-syntax-best" in name]
        rows = list(csv.reader(io.StringIO(files.read(table).decode("utf-8-sig"))))
        references = files.read("references.bib").decode()
    figures = re.findall(r"\{(figures/[^}]*)\}", document)
    assert len(figures) == 1
    assert "luatexja" not in document
    assert r"\includegraphics[width=\linewidth]" in document
    assert set(figures) <= set(names)
    assert rows[2] == ["[SEP]", "", "4"]
    assert r"\title{\(\rho\) \& more}" in document
    assert r"100\%\_\$x\$" in document
    assert "{[}SEP]" in document
    assert "{clark-2019," in references
    assert "% select 1" in document
