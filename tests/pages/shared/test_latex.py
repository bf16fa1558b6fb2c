"""Exported tables, captions and reports are set by LaTeX without a fault, and are well formed."""

import io
import re
import shutil
import subprocess
import zipfile

import pandas as pd
import pytest

from pages.export import paper as paper_module
from pages.export.latex import latex, latex_text
from pages.words import say as say_module
from tests.pages.shared.test_collection import ITEMS

PDFLATEX, LUALATEX = map(shutil.which, ("pdflatex", "lualatex"))
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


ESCAPED = re.compile(r"\\[\\{}%&$#_]|(?<!\\)%.*")
ENVIRONMENT = re.compile(r"\\(begin|end)\{(\w+)\}")


def assert_well_formed(document: str) -> None:
    """Check that braces and environments are closed in the order in which they are opened."""
    open_now: list[str] = []
    for begin, name in ENVIRONMENT.findall(document):
        if begin == "begin":
            open_now.append(name)
        else:
            assert open_now, name
            assert open_now.pop() == name
    assert not open_now
    depth = 0
    for letter in re.sub("[^{}]", "", ESCAPED.sub("", document)):
        depth += 1 if letter == "{" else -1
        assert depth >= 0
    assert depth == 0


@pytest.mark.parametrize("fault", [r"\begin{table}", "{", "}", r"\end{table}\begin{table}"])
def test_a_document_that_is_not_well_formed_would_be_seen(fault):
    with pytest.raises(AssertionError):
        assert_well_formed(f"a {fault} b")


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_a_report_is_well_formed_in_the_readers_language(lang, tmp_path, monkeypatch):
    monkeypatch.setattr(say_module, "language", lambda: lang)
    monkeypatch.setattr(paper_module, "language", lambda: lang)
    with zipfile.ZipFile(io.BytesIO(paper_module.paper("", ITEMS))) as files:
        files.extractall(tmp_path)
    document = (tmp_path / "report.tex").read_text(encoding="utf-8")
    assert_well_formed(document)
    assert ("luatexja" in document, "Mixscope レポート" in document) == (lang == "ja", lang == "ja")
    assert r"\includegraphics[width=\linewidth]" in document
    entries = (tmp_path / "references.bib").read_text(encoding="utf-8")
    assert_well_formed(entries)
    assert "author = {Clark, Kevin and Khandelwal, Urvashi" in entries
    assert "@inproceedings{clark-2019," in entries
    if LUALATEX:
        command = [LUALATEX, "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, re.findall("^!.*", done.stdout, re.M)) == (0, [])
