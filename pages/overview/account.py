"""Account of a file: soundness, corpus, tables, origin, and the files beside it."""

from pathlib import Path

import pandas as pd
import streamlit as st

from analysis.error_limits import LIMITS
from analysis.statistics.corpus import PATCHES
from pages.charts.plots import Bars
from pages.drawn.error_chart import worst_errors
from pages.drawn.image_ground import ImageGround
from pages.kit.frame import Frame
from pages.kit.kinds import Drawn, Table
from pages.kit.links import link, link_to_view
from pages.kit.page import fill
from pages.kit.section import Choices, Figure, Section, rows_of
from pages.kit.view import View
from pages.services.chosen import readable, why_unreadable
from pages.services.folder import files
from pages.services.inquiry import Inquiry
from pages.services.missing import show_command
from pages.services.open_file import Store
from pages.words.numbers import count, scientific
from pages.words.say import plain, say
from pages.words.scope import words_of

_SAMPLES, _PICTURES, _BINS = 5, 10, 32
_BY_LENGTH = """
    select n_tokens, count(*) as n_sequences from sequence group by n_tokens order by n_tokens"""
_FIRST_TEXTS = """
    select seq, n_tokens, text from sequence where text is not null order by seq limit $limit"""
_FIRST_PICTURES = """
    select seq, name, picture from image where picture is not null order by seq limit $limit"""


def soundness(inquiry: Inquiry) -> tuple[str, dict[str, str]]:
    """Return "yes" if the parts of every layer sum to the model's output, "no", or "unknown"; and
    the largest error beside the largest that is allowed."""
    frame = worst_errors(inquiry)
    if frame.empty:
        return "unknown", {}
    worst, limit = frame["error"].iloc[0], LIMITS[inquiry.store.run["dtype"]]
    values = {"worst": scientific(worst), "limit": scientific(limit)}
    return ("yes" if worst <= limit else "no"), values


def _lengths(inquiry: Inquiry, _: Choices) -> pd.DataFrame:
    """Number of texts by length, in bins of equal width; none for images, all of one length."""
    frame = rows_of(_BY_LENGTH, inquiry, {})
    if inquiry.store.shows_images:
        return frame.head(0)
    step = max(1, -(-int(frame["n_tokens"].max()) // _BINS))
    frame["from_tokens"] = (frame["n_tokens"] - 1) // step * step + 1
    return frame.groupby("from_tokens", as_index=False).agg({"n_sequences": "sum"})


def _first(inquiry: Inquiry, _: Choices) -> pd.DataFrame:
    if inquiry.store.shows_images:
        return rows_of(_FIRST_PICTURES, inquiry, {"limit": _PICTURES})
    return rows_of(_FIRST_TEXTS, inquiry, {"limit": _SAMPLES})


def _show_first(view: View, _: Figure, frame: pd.DataFrame, __: Choices) -> None:
    """Show texts one below the other, pictures beside each other."""
    if not view.store.shows_images:
        with view.place("expander", view.say("samples", n=len(frame))):
            for row in frame.itertuples():
                view.write("caption", view.say("sample", number=row.seq, tokens=row.n_tokens))
                view.write("text", str(row.text))
        return
    grid = rows_of(PATCHES, view, {}).iloc[0]
    rows, columns = int(grid["rows"]), int(grid["columns"])
    for place, row in zip(view.split(_PICTURES), frame.to_dict("records"), strict=False):
        drawn = ImageGround(rows, columns, special=(), picture=bytes(row["picture"]))
        with place:
            view.draw(st.image, drawn.address() or "", width="stretch", caption=plain(row["name"]))
    view.write("caption", say("of_images.pictures_caption", n=len(frame)))


_CORPUS = Section(
    "corpus",
    (),
    (
        Figure(
            "lengths",
            _lengths,
            Bars(x="from_tokens", value="n_sequences", format=",.0f", height=220),
            half=True,
        ),
        Figure(
            "types",
            "select token_type, count(*) as n, count(*) / sum(count(*)) over () as share "
            "from token group by token_type",
            Bars(x="token_type", value="share", more=("n",), format=".1%", height=220),
            half=True,
        ),
        Figure("first", _first, Drawn(record=_show_first)),
    ),
)
_HOLDINGS = Section(
    "holdings",
    (),
    (
        Figure(
            "tables",
            lambda inquiry, _: (
                pd.DataFrame({"table": inquiry.store.rows.keys(), "n": inquiry.store.rows.values()})
                .query("n > 0")
                .sort_values("n", ascending=False)
            ),
            Table(columns=("table", "n")),
        ),
    ),
)


def _sound(inquiry: Inquiry) -> None:
    verdict, values = soundness(inquiry)
    (st.success if verdict == "yes" else st.warning)(say(f"sound.{verdict}", **values))
    if values:
        link_to_view("layer_mixing", "completeness", say("sound.question"))


def _recorded(inquiry: Inquiry, section: Section) -> None:
    with words_of("overview", section.name):
        fill(section, view := View("", section.name, inquiry.store))
        Frame(lambda _: None).draw(view.items)


def _making(inquiry: Inquiry) -> None:
    """Show the run that made the file, and the command that repeats it."""
    store = inquiry.store
    st.markdown(say("making.again"))
    show_command(store)
    facts = store.run.drop("statistics").to_dict() | store.facts
    frame = pd.DataFrame({"name": facts.keys(), "value": map(str, facts.values())})
    with st.expander(say("making.everything")):
        columns = {"name": say("making.name"), "value": say("making.value")}
        st.dataframe(frame, hide_index=True, column_config=columns, alt=say("making.everything"))


def _others(inquiry: Inquiry) -> None:
    """List the other files of the folder as links to their overviews, unreadable ones with why."""
    for path in _other_files(inquiry):
        other = readable(path)
        left, right = st.columns([1, 3], vertical_alignment="center")
        with left:
            link("overview", plain(path.name), file=path.name)
        if isinstance(other, Store):
            names = {"model": plain(other.model_name), "corpus": plain(other.run["corpus"])}
            right.markdown(say("others.values", n=count(other.run["n_sequences"]), **names))
        else:
            right.markdown(why_unreadable(path, other))


def _other_files(inquiry: Inquiry) -> list[Path]:
    return [path for path in files() if path.name != inquiry.store.name]


def account(inquiry: Inquiry) -> None:
    """Show contents and origin of the file, in tabs."""
    parts = {
        "sound": lambda: _sound(inquiry),
        "corpus": lambda: _recorded(inquiry, _CORPUS),
        "holdings": lambda: _recorded(inquiry, _HOLDINGS),
        "making": lambda: _making(inquiry),
    }
    if _other_files(inquiry):
        parts["others"] = lambda: _others(inquiry)
    titles = [say(f"{name}.title") for name in parts]
    for tab, part in zip(st.tabs(titles), parts.values(), strict=True):
        with tab:
            part()
