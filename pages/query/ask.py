"""Editor for the reader's SQL, with its answer and the documentation of views beside it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

import pandas as pd
import streamlit as st

from analysis.contracts import every_table
from pages.kit.address import FreeChoice, asked, choose, forget, write
from pages.kit.items import Control
from pages.kit.source import Given
from pages.kit.table_documentation import view_columns
from pages.kit.view import View
from pages.query.chart import KINDS, Roles, can_be_drawn, chart, colours, numbers, places, usual
from pages.query.examples import EXAMPLES, examples_for
from pages.services.open_file import Store
from pages.services.sql_asking import ROWS, SECONDS, Answer, Fault, answered, why_unanswered
from pages.words.contracts import translation
from pages.words.numbers import count
from pages.words.say import plain

LONGEST = 20_000
"""Longest query, in letters."""
LONGEST_IN_LINK = 4_000
"""Longest query in an address, in letters after percent-encoding."""
MOST_DRAWN = 5_000
"""Row limit of the chart, which a browser and an export draw in a few seconds."""
_EDITOR = 232  # pixels
_SHARES = (2, 3)  # of the page: the question, its answer
_LONGEST_MESSAGE, _FEW = 1_200, 100  # letters; rows of a view
_STYLE = """<style>
.st-key-qu_sql textarea {font-family: monospace; font-size: .82rem; line-height: 1.45}
.st-key-qu_error pre, .st-key-qu_error code {white-space: pre-wrap}
</style>"""


@dataclass(frozen=True)
class Statement(FreeChoice):
    """SQL, written into the address unless it is too long for a link."""

    def parsed(self, names: Iterable[str]) -> str:
        return next(iter(names), self.default)[:LONGEST]

    def names(self, value: str) -> list[str]:
        return [value] if fits_into_a_link(value) else []


def fits_into_a_link(sql: str) -> bool:
    """Return True if the SQL is short enough for a link."""
    return len(quote(sql)) <= LONGEST_IN_LINK


def ask_in_sql(view: View, *_: object) -> None:
    """Record the editor, and the answer beside it."""
    left, right = view.columns(_SHARES)
    with left:
        sql = _question(view)
    is_another = _is_another(view, sql)
    with st.spinner(view.say("asking")):
        outcome = answered(view.store.version, sql)
    with right:
        if isinstance(outcome, Fault):
            _say_what_is_wrong(view, outcome)
        else:
            view.asked.record_own(sql)
            _show(view, sql, outcome, is_another=is_another)
    with left:
        view.row()
        _documentation(view, sql)


def _question(view: View) -> str:
    """Show the SQL editor with its buttons and examples; return the SQL."""
    view.write("html", _STYLE)
    store, key = view.store, view.key("sql")
    examples = examples_for(store)
    usual_question = next(iter(examples.values())).sql
    size = {"height": _EDITOR, "max_chars": LONGEST}
    view.add(Control(key, view.say("sql"), "sql", settings=size))
    sql = view.choices.value(Statement(key, default=usual_question))
    with view.place("container", horizontal=True, vertical_alignment="center", gap="small"):
        view.button(view.say("run"), _ask_again, view.store, key, type="primary")
        view.draw(
            st.menu_button,
            view.say("examples"),
            list(examples),
            key=view.key("example"),
            format_func={name: view.say(f"example_{name}") for name in examples}.__getitem__,
            on_click=_take_example,
            args=(view,),
        )
    view.write("caption", view.say("limits", rows=count(ROWS), seconds=f"{SECONDS:g}"))
    if not fits_into_a_link(sql):
        view.write("warning", view.say("too_long_for_a_link"))
    return sql


def _ask_again(store: Store, key: str) -> None:
    answered.clear(store.version, st.session_state[key])


def _take_example(view: View) -> None:
    """Replace the SQL by an example, and clear the title of the previous chart."""
    choose(view.key("sql"), EXAMPLES[st.session_state[view.key("example")]].sql)
    choose(view.key("shows"), "")


def _say_what_is_wrong(view: View, fault: Fault) -> None:
    """Show an error with the database's message, if any, and a remedy."""
    explanation = why_unanswered(fault)
    if fault.name == "sql":
        message = fault.message.strip()[:_LONGEST_MESSAGE]
        fence = "`" * (3 + max(map(len, re.findall("`+", message)), default=0))
        explanation = f"{explanation}\n\n{fence}text\n{message}\n{fence}"
    with view.place("container", key="qu_error"):
        view.write("error", explanation)


def _show(view: View, sql: str, answer: Answer, *, is_another: bool) -> None:
    """Draw the answer as a chart, if it can be drawn, and as a table."""
    frame = answer.frame
    if frame.empty:
        return view.nothing("empty")
    cut = view.say("cut", rows=count(ROWS)) if answer.was_cut else ""
    drawn = frame.head(MOST_DRAWN)
    if can_be_drawn(drawn):
        roles, title = _roles(view, drawn, is_another=is_another)
        view.finding(_headline(view, sql, title))
        part = view.say("drawn", rows=count(MOST_DRAWN)) if len(frame) > MOST_DRAWN else ""
        rows = count(len(frame))
        view.figure("chart", drawn, chart(drawn, roles), rows=rows, cut=f"{part}{cut}")
    caption = view.say("table_caption", rows=count(len(frame)), cut=cut)
    view.listed(
        view.key("table"),
        frame,
        {str(name): _setting(frame[name]) for name in frame},
        {"question": view.say("table"), "caption": caption},
        options={"placeholder": "—"},
    )


def _headline(view: View, sql: str, title: str) -> str:
    """Title of the chart: the reader's own, or the question of an example."""
    examples = examples_for(view.store).items()
    name = next((name for name, example in examples if example.sql.split() == sql.split()), None)
    return plain(title) if title or name is None else view.say(f"example_{name}")


def _roles(view: View, frame: pd.DataFrame, *, is_another: bool) -> tuple[Roles, str]:
    """Let the reader pick mark, axes and colour, and enter a title; by default those of `usual`.

    Choices in the address that the new question does not allow are dropped.
    """
    options = {
        "kind": list(KINDS),
        "x": places(frame),
        "y": numbers(frame),
        "colour": ["", *colours(frame)],
    }
    for name, possible in options.items() if is_another else ():
        if not set(asked(view.key(name))) <= set(possible):
            write(view.key(name), [])
    likely = usual(frame)
    kind = view.pick("kind", options["kind"], default=likely.kind)
    x = view.pick("x", options["x"], default=likely.x, format=str, kind="select")
    y = view.pick("y", options["y"], default=likely.y, format=str, kind="select")
    called = {option: option or view.say("no_colour") for option in options["colour"]}
    with view.more():
        colour = view.pick("colour", called, default=likely.colour, kind="select")
        title = view.text("shows")
    return Roles(kind, x, y, colour), title


def _is_another(view: View, sql: str) -> bool:
    """Return True if the question is not the previous one; forget choices made for that one.

    Choices in the address are kept.
    """
    last = view.key("last question")
    if isinstance(view.choices, Given):
        return False
    is_another = st.session_state.get(last, sql) != sql
    if is_another:
        for name in ("kind", "x", "y", "colour", "of"):
            forget(view.key(name))
    st.session_state[last] = sql
    return is_another


def _setting(values: pd.Series) -> object:
    """Column setting for a table: four significant digits for broken numbers."""
    if pd.api.types.is_bool_dtype(values) or not pd.api.types.is_numeric_dtype(values):
        return str(values.name)
    is_whole = pd.api.types.is_integer_dtype(values)
    return st.column_config.NumberColumn(format="%d" if is_whole else "%.4g")


def _documentation(view: View, sql: str) -> None:
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
