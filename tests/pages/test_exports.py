"""Exports can be opened, are in one unit with their headings, and name their sources."""

import io
import re
from typing import Any

import duckdb
import pandas as pd
import pytest

from analysis.sources import PAPERS
from analysis.statistics.question import frame_of, recorded_queries
from pages.charts.colours import TOKEN_TYPE_COLOURS
from pages.charts.plots import Bars, Lines, Points
from pages.export import files as export
from pages.export.latex import MOST_ROWS, latex
from pages.export.shown import bibliography
from pages.words.columns import title
from pages.words.scope import words_of
from pages.words.units import PERCENT, POINTS, in_unit, named_in, without_unit

OF_PAGE = "norms"
FRAME = pd.DataFrame(
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
    return Bars(colour="token_type").draw(FRAME, "", {})


def test_a_large_chart_is_exported_whole():
    many = pd.DataFrame({"low": range(1, 8001), "high": range(1, 8001)})
    chart = Points(x="low", value="high").draw(many, "", {})
    [values] = export.specification(chart)["datasets"].values()
    assert len(values) == 8000


def test_token_types_keep_their_order_and_colours():
    scale = bars().to_dict()["layer"][0]["encoding"]["color"]["scale"]
    assert scale == {
        "domain": ["[CLS]", "[SEP]"],
        "range": [TOKEN_TYPE_COLOURS["cls"], TOKEN_TYPE_COLOURS["sep"]],
    }


def test_csv_gives_the_frame_back_and_opens_in_spreadsheets():
    written = export.csv(FRAME.rename(columns={"layer": "層"}))
    assert written.startswith("\ufeff".encode())
    pd.testing.assert_frame_equal(
        pd.read_csv(io.BytesIO(written)), FRAME.rename(columns={"layer": "層"})
    )


def test_latex_escapes_what_tokens_are_made_of():
    frame = pd.DataFrame({"token_type": ["50% & $x_1$ #{}", "b"], "mean (%)": [-0.123456, None]})
    written = latex(frame, caption="Why 5%?\nSo.", label="t")
    assert written == (
        "% \\usepackage{booktabs}\n"
        "\\begin{table}[tbp]\n\\caption{Why 5\\%? So.}\n\\label{tab:t}\n"
        "\\begin{tabular}{lr}\n\\toprule\ntoken\\_type & mean (\\%) \\\\\n\\midrule\n"
        "50\\% \\& \\$x\\_1\\$ \\#\\{\\} & -0.1235 \\\\\nb & -- \\\\\n"
        "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    )


def test_a_finding_is_not_cut_within_a_sentence():
    sentences = [
        "Most goes to [SEP].",
        *(f"Layer {n} gives it {'much ' * 9}weight." for n in range(9)),
    ]
    words = re.sub("<[^>]+>", " ", export.svg(bars(), " ".join(sentences)))
    shown = " ".join(words.split())
    kept = [sentence for sentence in sentences if sentence in shown]
    assert 2 < len(kept) < len(sentences)
    assert f"Layer {len(kept) - 1} gives" not in shown


def test_latex_is_cut_and_says_so():
    frame = pd.DataFrame({"n": range(MOST_ROWS + 1)}, index=[0] * (MOST_ROWS + 1))
    written = latex(frame, caption="", label="t")
    assert f"The first {MOST_ROWS} of {len(frame)} rows." in written
    assert written.count("\\\\") == MOST_ROWS + 1


def test_a_pdf_embeds_its_own_fonts_for_latin_and_for_japanese_words():
    picture = export.pdf(bars(), "層 ‖αf(x)‖ Δ → −", "Source")
    fonts = set(re.findall(rb"/BaseFont ?/\w+\+([\w-]+)", picture))
    assert {name.partition(b"-")[0] for name in fonts} == {b"FiraSans", b"NotoSansJP"}
    assert b"/FontFile" in picture


def test_a_figure_is_as_wide_as_two_columns_with_finding_and_source():
    finding = " ".join(["a finding that goes on"] * 8)
    picture = export.svg(
        Lines(colour="token_type").draw(FRAME, "", {}),
        finding,
        "File <x>: model m.",
        "select 1 < 2",
    )
    [width] = re.findall('<svg[^>]* width="([0-9.]+)"', picture)
    assert float(width) == pytest.approx(export.WIDTH, abs=4)
    plots = [
        max(
            map(float, re.findall(r'class="background"[^>]* d="M[-0-9.,]+h[-0-9.]+v([0-9.]+)', svg))
        )
        for svg in (picture, export.svg(Lines(colour="token_type").draw(FRAME, "", {})))
    ]
    assert plots[0] == plots[1], "a title adds nothing to the height of the plot"
    assert "a finding that goes on" in picture
    assert "File &lt;x&gt;: model m." in picture
    assert picture.endswith("<metadata>select 1 &lt; 2</metadata></svg>")


PAIRS = pd.DataFrame({"layer": [1, 2], "mean_delta": [0.06682, -0.01]})


@pytest.mark.parametrize(("unit", "end"), [(PERCENT, "(%)"), (POINTS, "(% points)")])
def test_a_converted_column_has_its_unit_in_name_and_title(unit, end):
    shown = in_unit(PAIRS, unit, ["mean_delta", "low"])
    name = named_in(unit, "mean_delta")
    assert list(shown) == ["layer", name]
    assert shown[name].tolist() == pytest.approx([6.682, -1.0])
    assert without_unit(name) == "mean_delta"
    with words_of("token_pairs"):
        assert title(name) == f"mean change {end}"
        assert title("mean_delta") == "mean change"


def test_what_is_heard_asks_the_same_again():
    asked = "select $wanted as name, $most as most, list_contains($many, 'b') as is_there"
    with duckdb.connect() as store:
        with recorded_queries() as queries:
            answer = frame_of(store, asked, {"wanted": "it's $most", "most": None, "many": ["b"]})
            frame_of(store, "select 1 as one")
        assert len(frame_of(store, "select 'unheard'")) == 1
        assert len(queries) == 2
        pd.testing.assert_frame_equal(store.execute(queries[0]).df(), answer)


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
