"""Texts with markup, tags or times between the words: recognised by their first lines, and refused.

To add a form: a line of `FORMS`. Its pattern is matched against the whole first lines, each without
the white space around it, without blank lines.
"""

import re
from collections.abc import Sequence

_PLAIN = "write its texts as plain text, a paragraph to a line"
_SENTENCES = "write its words as sentences, each on a line, or give CoNLL-U with tabs"
_FORMS = (
    (
        "a notebook (.ipynb)",
        r'\{(?=[\s\S]*"cells"\s*:\s*\[\s*[\]{])(?=[\s\S]*"(cell_type|nbformat|metadata)"\s*:)',
        _PLAIN,
    ),
    ("RTF", r"\{\\rtf", _PLAIN),
    ("PDF", r"%PDF-", _PLAIN),
    ("LaTeX", r"(%.*\n)*\\(documentclass|documentstyle|begin|chapter|section|input)\b", _PLAIN),
    ("HTML", r"(?i:(<\?xml.*\n?)?(<!--[\s\S]*?-->\s*)?<(!doctype html|html|head|body)\b)", _PLAIN),
    (
        "XML",
        r"<(\?xml|!doctype)|<[A-Za-z][\w:.-]*(\s[^<>]*)?>[\s\S]*</[A-Za-z][\w:.-]*\s*>",
        _PLAIN,
    ),
    ("a web archive", r"WARC/\d", _PLAIN),
    ("subtitles (SRT)", r"(\d+\n)?\d+:\d\d:\d\d[.,]\d{1,3} *--> *\d", _PLAIN),
    ("subtitles (VTT)", r"WEBVTT\b", _PLAIN),
    ("subtitles (SBV)", r"\d+:\d\d:\d\d\.\d{3},\d+:\d\d:\d\d\.\d{3}\n", _PLAIN),
    ("subtitles (ASS)", r"\[Script Info\]", _PLAIN),
    ("subtitles (LRC)", r"(\[[a-z]+:.*\]\n)*\[\d\d:\d\d[.:]\d\d\d?\]", _PLAIN),
    (
        "in bracketed trees",
        r"\((\s*[A-Z\d][^\s()]*)?\s*\(\s*[A-Z\d][\s\S]{0,500}?\(([A-Z][A-Z$-]*|\d)\s[^\s()]+\)"
        r"|\(\s*([A-Z][A-Z$-]*|\d)\s*\(([A-Z][A-Z$-]*|\d)\s[^\s()]+\)",
        _SENTENCES,
    ),
    ("in columns of words and tags (CoNLL-2003)", r"-DOCSTART-\s", _SENTENCES),
    (
        "in columns of words and tags",
        r"(#.*\n)*(?=[\s\S]*[ \t][BIELSU]-\S)(\S+([ \t]+\S+)*[ \t]+(O|[BIELSU]-\S+)(\n|\Z)){2,}\Z"
        r"|(\S+[ \t]+[A-Z]{1,5}\$?(\n|\Z)){3,}\Z",
        _SENTENCES,
    ),
    (
        "a treebank with spaces for tabs",
        r"(#.*\n)*\d+([-.]\d+)?( +\S+){2} +([A-Z]+|_) +\S+ +\S+ +(\d+|_) +\S+ +\S+ +\S+(\n|\Z)",
        "write a tab between its columns",
    ),
    ("in words with tags", r"(\S+[/_][A-Za-z$.,:'`*+-]{1,8}\s+){5}", _SENTENCES),
)
FORMS = tuple((name, re.compile(pattern), remedy) for name, pattern, remedy in _FORMS)


def refusal_of(lines: Sequence[str]) -> str | None:
    """Return why a text with these first lines is not read, with the remedy; None for others."""
    text = "\n".join(lines)
    found = ((name, remedy) for name, form, remedy in FORMS if form.match(text))
    return next((f"is {name}, not plain text; {remedy}" for name, remedy in found), None)
