"""Report for a paper: a LaTeX document with its figures, tables and bibliography."""

import io
import re
import zipfile
from collections.abc import Sequence

from pages.export import files as export
from pages.export.drawing import IS_JAPANESE, NotDrawn, not_drawn
from pages.export.item import Item, bibliography_of
from pages.export.latex import commented, latex, latex_text
from pages.words.say import language, say

DOCUMENT = "report.tex"
_PREAMBLE = r"""%% Compile with LuaLaTeX: latexmk -lualatex report.tex
\documentclass[11pt]{article}
\usepackage[a4paper, margin=2.2cm]{geometry}
\usepackage{booktabs, graphicx, url, fontspec}
%s
\usepackage[numbers]{natbib}
\title{%s}
\date{}
\begin{document}
\maketitle
"""
_FONTS = "\\usepackage[match]{luatexja-preset}\n"
_NAMES = r"""\renewcommand{\figurename}{図}
\renewcommand{\tablename}{表}
\renewcommand{\refname}{文献}
"""
_END = r"""
\nocite{*}
\bibliographystyle{plainnat}
\bibliography{references}
\end{document}
"""
_FIGURE = r"""
\begin{figure}[htbp]
  \centering
  \includegraphics[width=\linewidth]{%s}
  \caption{%s}
\end{figure}
"""


def paper(title: str, items: Sequence[Item]) -> bytes:
    """A ZIP file: `report.tex`, `references.bib`, figures as SVG and PDF, numbers as CSV."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as files:
        parts = "".join(_packed(files, n, item) for n, item in enumerate(items, start=1))
        title, cited = latex_text(title or say("collection.untitled")), bibliography_of(items)
        fonts = _FONTS if IS_JAPANESE.search(f"{title}{parts}{cited}") else ""
        names = _NAMES if language() == "ja" else ""
        files.writestr(DOCUMENT, _PREAMBLE % (fonts + names, title) + parts + _END)
        files.writestr("references.bib", cited)
    return packed.getvalue()


def _packed(files: zipfile.ZipFile, n: int, item: Item) -> str:
    """Write the files of an item; return its part of the document."""
    name = f"{n:02d}-{_stem(item.address)}"
    source = f"{item.source} Mixscope {item.version}. {item.address}"
    caption = " ".join(map(_sentence, filter(None, (*item.said, item.note, item.source))))
    notes = "\n".join((item.address, *item.queries))
    if item.columns:
        files.writestr(f"tables/{name}.csv", export.csv(item.frame))
    if item.chart:
        try:
            svg = export.svg(item.chart, item.said[0], source, notes)
            pdf = export.pdf(item.chart)
        except NotDrawn:
            return f"\n{latex_text(f'{caption} {not_drawn()}')}\n"
        files.writestr(f"figures/{name}.svg", svg)
        files.writestr(f"figures/{name}.pdf", pdf)
        return commented(notes) + _FIGURE % (f"figures/{name}.pdf", latex_text(caption))
    if not item.columns:
        return f"\n{latex_text(caption)}\n"
    return "\n" + latex(item.frame, caption=caption, label=name, notes=notes)


def _sentence(text: str) -> str:
    return text if text.rstrip()[-1:] in ".?!。？" else f"{text}."


def _stem(address: str) -> str:
    """Page and name of a figure, in English whatever the reader's language."""
    page, _, name = re.sub(r"\?[^#]*", "", address).partition("#")
    return re.sub(r"[^a-z0-9]+", "-", f"{page} {name}".lower()).strip("-")[:40].strip("-") or "item"
