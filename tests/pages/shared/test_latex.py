"""An exported table and caption are set by LaTeX without a fault."""

import re
import shutil
import subprocess

import pandas as pd
import pytest

from pages.export.latex import latex, latex_text

PDFLATEX = shutil.which("pdflatex")
FINDING = "Most weight on **[CLS]** tokens: ρ = −0.49 [−0.51, −0.47] over 5 × 10⁻⁷ of {all} pairs."
TABLE = pd.DataFrame(
    {
        "pair": ["[SEP]₀ → the₁₂", "50% & $x_1^2$ ~ \\end{tabular} #"],
        "text": ["words", "‖αf(x)‖ ≥ 0"],
        "share": [0.5, None],
    }
)
DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{lmodern, booktabs}
\begin{document}
%s
%s
\end{document}
"""


@pytest.mark.skipif(not PDFLATEX, reason="no LaTeX here: apt-get install texlive-latex-extra")
def test_a_document_is_set_without_a_fault(tmp_path):
    table = latex(TABLE, caption=FINDING, label="pairs")
    (tmp_path / "paper.tex").write_text(DOCUMENT % (latex_text(FINDING), table))
    command = [PDFLATEX or "", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, re.findall("^(?:!|Overfull).*", done.stdout, re.M)) == (0, [])
