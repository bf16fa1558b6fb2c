"""Exports can be opened, agree with the chart, and read nothing from elsewhere."""

import io
import re

import altair as alt
import pandas as pd
import pytest

from pages.charts.chart_theme import with_data
from pages.charts.colours import TOKEN_TYPE_COLOURS
from pages.charts.heat_map import heat_map
from pages.charts.plots import Bars, Lines, Points
from pages.export import files as export
from pages.export.drawing import NotDrawn, pdf_of, png_of, svg_of
from pages.export.latex import MOST_ROWS, latex

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
CHARTS = {
    "bars": lambda: Bars(colour="token_type").draw(FRAME, "", {}),
    "heat map": lambda: heat_map(
        FRAME,
        x="head",
        value="mean",
        format=".2f",
        tooltip=(),
        marked=(1, 2),
    ),
    "lines": lambda: Lines(colour="token_type").draw(FRAME, "", {}),
    "points": lambda: Points(
        x="low", value="high", colour="token_type", marks=("layer", "head"), is_clicked=True
    ).draw(FRAME, "", {}),
    "side by side": lambda: alt.hconcat(CHARTS["bars"](), CHARTS["heat map"]()),
}


@pytest.mark.parametrize("name", CHARTS)
def test_every_kind_of_chart_becomes_a_picture(name):
    assert export.svg(CHARTS[name]()).lstrip().startswith("<svg")


def test_a_large_chart_is_exported_whole():
    many = pd.DataFrame({"low": range(1, 8001), "high": range(1, 8001)})
    chart = Points(x="low", value="high").draw(many, "", {})
    [values] = export.specification(chart)["datasets"].values()
    assert len(values) == 8000


def test_token_types_keep_their_order_and_colours():
    scale = CHARTS["bars"]().to_dict()["layer"][0]["encoding"]["color"]["scale"]
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


def test_a_caption_of_latex_has_no_marks_of_markdown():
    written = latex(FRAME, caption=r"**92%** goes to \[SEP\].", label="t")
    assert r"\caption{92\% goes to [SEP].}" in written
    assert latex(FRAME, caption="✓ so, ✗ not", label="t").isascii()


def test_a_finding_is_not_cut_within_a_sentence():
    sentences = [
        "Most goes to [SEP].",
        *(f"Layer {n} gives it {'much ' * 9}weight." for n in range(9)),
    ]
    words = re.sub("<[^>]+>", " ", export.svg(CHARTS["bars"](), " ".join(sentences)))
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
    picture = export.pdf(CHARTS["bars"](), "層 ‖αf(x)‖ Δ → −", "Source")
    fonts = set(re.findall(rb"/BaseFont ?/\w+\+([\w-]+)", picture))
    assert {name.partition(b"-")[0] for name in fonts} == {b"FiraSans", b"NotoSansJP"}
    assert b"/FontFile" in picture


def test_every_line_of_a_japanese_title_is_set_in_one_font():
    picture = export.svg(CHARTS["bars"](), "全層の平均での値 ρ は " * 12)
    lines = re.findall(r"<([^<>]*)>([^<]*全層[^<]*)<", picture)
    assert len(lines) > 1
    assert all('font-family="Noto Sans JP"' in start for start, _ in lines)


def test_a_figure_is_as_wide_as_two_columns_with_finding_and_source():
    finding = " ".join(["a finding that goes on"] * 8)
    picture = export.svg(CHARTS["lines"](), finding, "File <x>: model m.", "select 1 < 2")
    [width] = re.findall('<svg[^>]* width="([0-9.]+)"', picture)
    assert float(width) == pytest.approx(export.WIDTH, abs=4)
    plots = [
        max(
            map(float, re.findall(r'class="background"[^>]* d="M[-0-9.,]+h[-0-9.]+v([0-9.]+)', svg))
        )
        for svg in (picture, export.svg(CHARTS["lines"]()))
    ]
    assert plots[0] == plots[1], "a title adds nothing to the height of the plot"
    assert "a finding that goes on" in picture
    assert "File &lt;x&gt;: model m." in picture
    assert picture.endswith("<metadata>select 1 &lt; 2</metadata></svg>")


def test_a_chart_is_drawn_in_every_form_also_after_one_that_is_none():
    with pytest.raises(NotDrawn, match="TypeError"):
        svg_of({"mark": 3})
    drawn = svg_of(with_data(CHARTS["points"]()))
    assert drawn.startswith("<svg")
    assert png_of(drawn).startswith(b"\x89PNG")
    assert pdf_of(drawn).startswith(b"%PDF")
