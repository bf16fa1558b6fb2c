"""A collection for a paper: a LaTeX document with its figures, tables and bibliography."""

import io
import re
import zipfile

from pages.export import files as export
from pages.export.collection import Collection
from pages.export.drawing import NotDrawn, not_drawn
from pages.export.item import Item
from pages.export.latex import latex, latex_text
from pages.words.say import language, say

DOCUMENT = "report.tex"
_PREAMBLE = r"""%% Compile with LuaLaTeX: latexmk -lualatex report.tex
\documentclass[11pt]{article}
\usepackage[a4paper, margin=2.2cm]{geometry}
\usepackage{booktabs, graphicx, url, fontspec%s}
\usepackage[numbers]{natbib}
\title{%s}
\date{}
\begin{document}
\maketitle
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


def paper(collection: Collection) -> bytes:
    """A ZIP file: `report.tex`, `references.bib`, figures as SVG and PDF, tables as CSV."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as files:
        parts = [_packed(files, n, item) for n, item in enumerate(collection.items, start=1)]
        files.writestr(DOCUMENT, _document(collection, parts))
        files.writestr("references.bib", collection.bibliography())
    return packed.getvalue()


def _document(collection: Collection, parts: list[str]) -> str:
    japanese = ", luatexja" if language() == "ja" else ""
    title = latex_text(collection.title or say("collection.untitled"))
    return _PREAMBLE % (japanese, title) + "".join(parts) + _END


def _packed(files: zipfile.ZipFile, n: int, item: Item) -> str:
    """Write the files of an item; return its part of the document."""
    name = f"{n:02d}-{_stem(item.question)}"
    labels = (item.finding or item.question, f"{item.source} Mixscope {item.version}. {item.link}")
    texts = (item.finding or item.question, item.note, item.source)
    caption = " ".join(_sentence(text) for text in texts if text)
    if item.chart:
        try:
            svg, pdf = export.svg(item.chart, *labels), export.pdf(item.chart)
        except NotDrawn:
            return f"\n{latex_text(f'{caption} {not_drawn()}')}\n"
        files.writestr(f"figures/{name}.svg", svg)
        files.writestr(f"figures/{name}.pdf", pdf)
        return _FIGURE % (f"figures/{name}.pdf", latex_text(caption))
    files.writestr(f"tables/{name}.csv", export.csv(item.frame))
    return "\n" + latex(item.frame, caption=caption, label=name, link=item.link)


def _sentence(text: str) -> str:
    return text if text.rstrip()[-1:] in ".?!。？" else f"{text}."


def _stem(question: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", question.lower()).strip("-")[:40].strip("-") or "item"
