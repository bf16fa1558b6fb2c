"""Recognition of corpus formats by content, never by name.

Texts with markup, tags or times between the words are recognised by their first lines, and refused:
a pattern of `FORMS` is matched against these, stripped and without blank ones.
"""

import json
import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from analysis.errors import BadCorpus
from precompute.corpora.images.pictures import kind_of
from precompute.corpora.source import BUNDLED_TEXTS, Head, head_of
from precompute.corpora.texts.rows import table_options
from precompute.corpora.wording import file_name, path_as_given

_PLAIN = "write its texts as plain text, a paragraph to a line"
_SENTENCES = "write its words as sentences, each on a line, or give CoNLL-U with tabs"
FORMS = (
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


NAMES = {
    "arrow": "Arrow",
    "conllu": "CoNLL-U",
    "coreference": "coreference columns",
    "csv": "CSV",
    "json": "a JSON list",
    "jsonl": "JSON Lines",
    "paragraphs": "plain text",
    "parquet": "Parquet",
    "pickle": "a pickle",
    "tsv": "TSV",
}

PICKLE = re.compile(rb"\x80[\x02-\x05]|\((?:lp|dp)\d+\n|[\]}]q[\x00\x01]|\]\(")
PACKED = (b"PK\x03\x04", b"BZh", b"\xfd7zXZ\x00", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
COREFERENCE = re.compile(r"#\s*begin document\b")
JSON_LIST = re.compile(r"\[\s*(?:\{|$)")
JSON_GOES_ON = re.compile(r"\s*(?:,\s*(?:[\"\[{]|$)|\]\s*$)")
CONLLU_LINE = re.compile(r"[0-9]+(?:[-.][0-9]+)?\t[^\t]*\t[^\t]*\t")


def one_format_of(files: Sequence[Path]) -> str:
    """Return the format that all files share, one of `NAMES`."""
    first = format_of(files[0])
    for path in files[1:]:
        if (other := format_of(path)) != first:
            raise BadCorpus(
                file_name(path),
                f"is {NAMES[other]}, but {file_name(files[0])} is {NAMES[first]}; "
                "give files of one form as a corpus",
            )
    return first


def format_of(path: Path) -> str:
    """Return the format of the file, by its first 64 KiB, decompressed if it is compressed."""
    _check_regular(path)
    head, name = head_of(path), file_name(path)
    if not head.content:
        raise BadCorpus(name, "is empty; give a file that holds some text")
    if head.content.startswith(b"PAR1"):
        return "parquet"
    if head.content.startswith(b"\xff\xff\xff\xff"):
        return "arrow"
    if PICKLE.match(head.content):
        return "pickle"
    _refuse_binary(head.content, name)
    return _format_of_text(head, name)


def _check_regular(path: Path) -> None:
    place = path_as_given(path)
    try:
        is_there, is_file = path.exists(), path.is_file()
    except OSError as error:
        raise BadCorpus(
            place, f"cannot be read ({error.strerror}); check its name and permissions"
        ) from error
    if not is_there:
        raise BadCorpus(
            place,
            "there is no such file; give the path of a corpus, or the name of one that is bundled: "
            f"{', '.join(BUNDLED_TEXTS)}",
        )
    if not is_file:
        raise BadCorpus(place, "is not a regular file; write the corpus to a file first")


def _refuse_binary(head: bytes, name: str) -> None:
    if head.startswith(PACKED):
        raise BadCorpus(name, "is compressed, and not by gzip or zstd alone; unpack it first")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadCorpus(name, "is UTF-16; save it as UTF-8")
    if b"\0" in head:
        kind = kind_of(head)
        advice = "give its folder to a model that reads images, or give a text corpus"
        raise BadCorpus(
            name,
            f"is an image ({kind}); {advice}"
            if kind
            else "holds binary data; give JSON Lines or plain text",
        )


def _format_of_text(head: Head, name: str) -> str:
    lines = [line.strip() for line in head.lines]
    comments = list(takewhile(lambda line: line.startswith("#"), lines))
    rest = lines[len(comments) :]
    if any(map(COREFERENCE.match, comments)):
        return "coreference"
    if rest and CONLLU_LINE.match(rest[0]):
        return "conllu"
    text = "\n".join(lines)
    for form, pattern, remedy in FORMS:
        if re.match(pattern, text):
            raise BadCorpus(name, f"is {form}, not plain text; {remedy}")
    if lines and (lines[0].startswith("{") or _are_json(lines)):
        return "jsonl"
    if rest and _is_json_list("\n".join(rest), is_cut=head.is_cut):
        return "json"
    if options := table_options(head):
        return "tsv" if options["delimiter"] == "\t" else "csv"
    return "paragraphs"


def _are_json(lines: Sequence[str]) -> bool:
    """Return True if there are several lines and each is a JSON string or list."""
    try:
        return len(lines) > 1 and all(isinstance(json.loads(line), str | list) for line in lines)
    except (ValueError, RecursionError):
        return False


def _is_json_list(text: str, *, is_cut: bool) -> bool:
    """Return True if a text begins as a JSON list of objects, lists or strings does."""
    if not text.startswith("[") or JSON_LIST.match(text):
        return text.startswith("[")
    start = len(text) - len(text[1:].lstrip())
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        return is_cut and "Unterminated string" in str(error)
    return isinstance(value, str | list) and JSON_GOES_ON.match(text, end) is not None
