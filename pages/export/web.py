"""Collection as one web page that needs neither server nor network."""

import json
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from pages.drawn import shading
from pages.export.drawing import scripts
from pages.export.files import specification
from pages.export.item import Cell, Item, bibliography_of
from pages.words.say import language, say

_STYLE = (files("pages.export") / "web.css").read_text(encoding="utf-8")
_SCRIPT = (files("pages.export") / "web.js").read_text(encoding="utf-8")
_DATA = "application/json"


def web_page(title: str, items: Sequence[Item]) -> str:
    """Report in the reader's language, with interactive charts and sortable tables."""
    title = title or say("collection.untitled")
    numbered = dict(enumerate(items, start=1))
    parts = "".join(_item(n, item) for n, item in numbered.items())
    charts = {f"chart-{n}": specification(item.chart) for n, item in numbered.items() if item.chart}
    data = json.dumps(charts, ensure_ascii=False).replace("<", "\\u003c")
    cited = escape(bibliography_of(items))
    scripts = [_vega(), _SCRIPT]
    hashes = " ".join(f"'sha256-{_hash(text)}'" for text in scripts)
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {hashes}"
    tags = "".join(f"<script>{text}</script>" for text in scripts)
    return (
        f'<!doctype html>\n<html lang="{language()}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style>{shading.STYLE}</head>"
        f"<body><h1>{escape(title)}</h1>{parts}"
        f"<footer><h3>{escape(say('figure.cite'))}</h3><pre>{cited}</pre></footer>"
        f'<script type="{_DATA}" id="charts">{data}</script>{tags}</body></html>\n'
    )


def _item(n: int, item: Item) -> str:
    """One item: its question, finding, picture, caption, note, source, numbers and SQL."""
    first, *others = item.said
    shown = f'<div id="chart-{n}" class="chart"></div>' if item.chart else item.body
    table = numbers(item) if item.columns else ""
    folded = {"numbers": table if shown else "", "sql": _code(item.queries)}
    paragraphs = {
        "note": escape(item.note),
        "more": escape(" ".join(others)),
        "caption": escape(item.caption),
        "source": f"{escape(item.source)} Mixscope {escape(item.version)}.",
        "address": f"<code>{escape(item.address)}</code>" if item.address else "",
    }
    after = "".join(f'<p class="{name}">{text}</p>' for name, text in paragraphs.items() if text)
    after += "".join(
        f"<details><summary>{escape(say(f'collection.{name}'))}</summary>{text}</details>"
        for name, text in folded.items()
        if text
    )
    heading = f'<p class="question">{n}. {escape(item.question)}</p><h2>{escape(first)}</h2>'
    return f"<section>{heading}{shown or table}{after}</section>"


def _code(queries: Sequence[str]) -> str:
    code = escape(";\n\n".join(queries))
    return f"<pre>{code}</pre>" if code else ""


def numbers(item: Item, most: int | None = None) -> str:
    """Table of the numbers of an item, in at most so many rows, as markup."""
    heads = "".join(f"<th>{escape(name)}</th>" for name in item.columns)
    shown = item.rows[:most]
    rows = "".join(
        f"<tr>{''.join(f'<td{_sorted_by(cell)}>{escape(_shown(cell))}</td>' for cell in row)}</tr>"
        for row in shown
    )
    cut = say("collection.first_rows", n=len(shown), of=f"{item.n_rows:,}")
    note = f'<p class="caption">{escape(cut)}</p>' if item.n_rows > len(shown) else ""
    body = f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>"
    return f'<div class="table"><table>{body}</table>{note}</div>'


def _sorted_by(cell: Cell) -> str:
    return f' data-value="{cell}"' if isinstance(cell, int | float) else ""


def _shown(cell: Cell) -> str:
    if cell is None:
        return "—"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


@cache
def _vega() -> str:
    """Vega, Vega-Lite and vega-embed as one script."""
    return scripts().replace("</script", "<\\/script")


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")
