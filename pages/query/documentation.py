"""Documentation of the open file's public views, next to the query."""

import re

from analysis.contracts import every_table
from pages.kit.address import choose
from pages.kit.table_documentation import view_columns
from pages.kit.view import View
from pages.words.contracts import translation

_FEW = 100  # rows


def documentation(view: View, sql: str) -> None:
    """Document one view with rows: what a row is, and what each column means.

    By default the first view that the query names.
    """
    held = [table for table in every_table() if view.store.holds(table)]
    views = {public.name: public for table in held for public in table.all_views}
    words = re.findall(r"\b(?:from|join)\s+(\w+)", sql.lower())
    first_named = next((word for word in words if word in views), min(views))
    with view.place("expander", view.say("views"), expanded=True):
        name = view.pick("of", sorted(views), default=first_named, format=str, kind="select")
        view.write("markdown", f"**`{name}`** — {translation(views[name].grain)}")
        rows = f"from {name}\nlimit {_FEW}"
        view.button(view.say("see_rows"), choose, view.key("sql"), rows)
        view.draw(view_columns, views[name])
