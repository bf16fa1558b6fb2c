"""Collection as one web page that needs neither server nor network."""

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from pages.charts.headline import sentences
from pages.drawn import shading
from pages.export.collection import Collection
from pages.export.drawing import scripts
from pages.export.files import specification
from pages.export.item import Cell, Item
from pages.export.markup import clean
from pages.words.say import language, say

_STYLE = (files("pages.export") / "web.css").read_text(encoding="utf-8")
_SCRIPT = (files("pages.export") / "web.js").read_text(encoding="utf-8")
_DATA = "application/json"


def web_page(collection: Collection) -> str:
    """Collection in the reader's language, with interactive charts and sortable tables."""
    title = collection.title or say("collection.untitled")
    numbered = dict(enumerate(collection.items, start=1))
    parts = "".join(_item(n, item) for n, item in numbered.items())
    charts = {f"chart-{n}": specification(item.chart) for n, item in numbered.items() if item.chart}
    data = json.dumps(charts, ensure_ascii=False).replace("<", "\\u003c")
    cited = escape(collection.bibliography())
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
    """One item: its question, finding, picture, caption, note and source."""
    first, *others = sentences(item.finding) or [""]
    body = f'<div id="chart-{n}" class="chart"></div>' if item.chart else clean(item.body)
    table = "" if item.chart or item.body else _table(item)
    link = f' <a href="{escape(item.link)}">{escape(say("collection.open"))}</a>'
    paragraphs = {
        "note": escape(item.note),
        "more": escape(" ".join(others)),
        "caption": escape(item.caption),
        "source": escape(item.source) + (link if item.link else ""),
    }
    after = "".join(f'<p class="{name}">{text}</p>' for name, text in paragraphs.items() if text)
    heading = f'<p class="question">{n}. {escape(item.question)}</p><h2>{escape(first)}</h2>'
    return f"<section>{heading}{body}{table}{after}</section>"


def _table(item: Item) -> str:
    heads = "".join(f"<th>{escape(name)}</th>" for name in item.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td{_sorted_by(cell)}>{escape(_shown(cell))}</td>' for cell in row)}</tr>"
        for row in item.rows
    )
    cut = say("collection.first_rows", n=len(item.rows), of=f"{item.n_rows:,}")
    note = f'<p class="caption">{escape(cut)}</p>' if item.n_rows > len(item.rows) else ""
    body = f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>"
    return f'<div class="table"><table>{body}</table></div>{note}'


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
