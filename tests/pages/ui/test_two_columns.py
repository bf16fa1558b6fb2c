"""Figures exported for one column fit into a two-column document."""

import re
import shutil
import subprocess

import altair as alt
import pandas as pd
import pytest

from pages.ui.charts.head_map import quantity_maps
from pages.ui.charts.standard import lines
from pages.ui.export import files as export
from pages.ui.export.latex import latex, latex_text
from pages.ui.words.quantities import QUANTITIES

PDFLATEX = shutil.which("pdflatex")
needs_latex = pytest.mark.skipif(
    not PDFLATEX,
    reason="no LaTeX here: apt-get install texlive-latex-extra texlive-science lmodern",
)
FINDING = "Most weight on **[CLS]** tokens: ρ = −0.49 [−0.51, −0.47] over 5 × 10⁻⁷ of {all} pairs."
HEADS = pd.DataFrame(
    [
        {"quantity": quantity, "layer": layer, "head": head, "mean": 0.1, "low": 0.0, "high": 0.2}
        for quantity in QUANTITIES
        for layer in range(1, 7)
        for head in range(1, 13)
    ]
)
TABLE = pd.DataFrame(
    {
        "pair": ["[SEP]₀ → the₁₂", "50% & $x_1^2$ ~ \\end{tabular} #"],
        "text": ["a long text of many words " * 5, "‖αf(x)‖ ≥ 0"],
        **{f"column_{n}": [0.5, None] for n in range(8)},
    }
)
DOCUMENT = r"""\documentclass[twocolumn]{article}
\usepackage[textwidth=17.5cm, columnsep=.7cm]{geometry}
\usepackage[T1]{fontenc}
\usepackage{lmodern, booktabs, siunitx, graphicx}
\begin{document}
\begin{figure}\includegraphics{maps.pdf}\caption{%s}\end{figure}
\begin{figure}\includegraphics{lines.pdf}\caption{%s}\end{figure}
%s
\end{document}
"""
POINTS = re.compile(r'<svg[^>]* width="([0-9.]+)"')


def charts() -> dict[str, alt.TopLevelMixin]:
    tops = dict.fromkeys(QUANTITIES, 1.0)
    drawn = lines(HEADS[HEADS["head"] == 1], x="layer", y="mean", colour="quantity")
    return {"maps": quantity_maps(HEADS, tops, marked=(1, 1)), "lines": drawn}


@pytest.mark.parametrize("name", ["maps", "lines"])
def test_a_figure_for_one_column_is_no_wider(name):
    match = POINTS.search(export.svg(charts()[name], FINDING, "Source.", points=export.SINGLE))
    assert match
    assert float(match[1]) <= export.SINGLE + 1


@needs_latex
def test_a_document_of_two_columns_is_set_without_a_fault(tmp_path):
    for name, chart in charts().items():
        (tmp_path / f"{name}.pdf").write_bytes(
            export.pdf(chart, FINDING, "Source.", points=export.SINGLE)
        )
    caption = latex_text(FINDING)
    table = latex(TABLE, caption=FINDING, label="pairs")
    (tmp_path / "paper.tex").write_text(DOCUMENT % (caption, caption, table))
    command = [PDFLATEX or "", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, re.findall("^(?:!|Overfull).*", done.stdout, re.M)) == (0, [])
