"""Soundness, corpus, tables and origin of the open file."""

from pathlib import Path

import altair as alt
import pandas as pd
import streamlit as st

from analysis.error_limits import LIMITS
from analysis.statistics import image
from analysis.statistics.corpus import first_sequences, sequence_lengths, token_type_counts
from analysis.statistics.mixing import completeness
from pages.ui.charts.chart_theme import Chart, tooltips
from pages.ui.charts.colours import SERIES_COLOURS, TOKEN_TYPE_COLOURS
from pages.ui.charts.error_chart import error_chart, worst_errors
from pages.ui.charts.image_ground import ImageGround
from pages.ui.choices.links import link
from pages.ui.frame import figure, table
from pages.ui.store.chosen import (
    readable,
    why_unreadable,
)
from pages.ui.store.folder import files
from pages.ui.store.inquiry import Inquiry
from pages.ui.store.missing import show_command
from pages.ui.store.open_file import Store
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import count, percent, scientific
from pages.ui.words.say import plain, say

_SAMPLES, _PICTURES = 5, 10


def soundness_of_file(inquiry: Inquiry) -> str:
    """Return "yes" if the parts of every layer sum to the model's output, "no", or "unknown"."""
    frame = inquiry.ask(completeness.by_layer)
    if frame.empty:
        return "unknown"
    return "yes" if worst_errors(frame)["error"].iloc[0] <= _limit(inquiry.store) else "no"


def _limit(store: Store) -> float:
    return LIMITS[store.run["dtype"]]


def soundness(inquiry: Inquiry) -> None:
    """Show the error of the sums of parts against the model's own output, layer by layer."""
    verdict = soundness_of_file(inquiry)
    if verdict == "unknown":
        st.warning(say("sound.unknown"))
        return
    frame, limit = inquiry.ask(completeness.by_layer), _limit(inquiry.store)
    errors = worst_errors(frame)
    values = {"worst": scientific(errors["error"].iloc[0]), "limit": scientific(limit)}
    (st.success if verdict == "yes" else st.warning)(say(f"sound.{verdict}", **values))
    figure(
        inquiry.store,
        error_chart(errors, limit),
        key="completeness",
        question=say("sound.question"),
        caption=say("sound.caption"),
        frame=frame,
        alt=say("sound.alt", **values),
    )


def corpus(inquiry: Inquiry) -> None:
    """Show lengths, token types and samples of the texts; for images, pictures and token types."""
    if inquiry.store.shows_images:  # which are all of one length
        _pictures(inquiry)
        _types(inquiry)
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        _lengths(inquiry)
    with right:
        _types(inquiry)
    _samples(inquiry)


def _pictures(inquiry: Inquiry) -> None:
    """Show the first stored images, as the model sees them."""
    shown, grid = inquiry.ask(image.pictures, limit=_PICTURES), inquiry.ask(image.grid).iloc[0]
    if shown.empty:
        return
    rows, columns = int(grid["rows"]), int(grid["columns"])
    for cell, row in zip(st.columns(_PICTURES), shown.to_dict("records"), strict=False):
        drawn = ImageGround(rows, columns, special=(), picture=bytes(row["picture"]))
        cell.image(drawn.address() or "", width="stretch", caption=plain(row["name"]))
    st.caption(say("of_images.pictures_caption", n=len(shown)))


def _lengths(inquiry: Inquiry) -> None:
    frame = inquiry.ask(sequence_lengths)
    step = max(1, -(-int(frame["n_tokens"].max()) // 32))
    binned = (
        frame.assign(low=(frame["n_tokens"] - 1) // step * step + 1)
        .groupby("low", as_index=False)["n_sequences"]
        .sum()
    )
    binned["high"] = binned["low"] + step
    chart = (
        Chart(binned)
        .mark_bar(color=SERIES_COLOURS[0], orient="vertical")
        .encode(
            x=alt.X("low:Q", title=say("corpus.length_axis"), scale=alt.Scale(zero=False)),
            x2=alt.X2("high:Q"),
            y=alt.Y(
                "n_sequences:Q",
                title=say("corpus.sequences_axis"),
                axis=alt.Axis(tickMinStep=1, format="d"),
            ),
            tooltip=[
                alt.Tooltip("low:Q", title=say("corpus.from_tokens")),
                alt.Tooltip("n_sequences:Q", title=say("corpus.sequences_axis"), format=",d"),
            ],
        )
        .properties(height=220)
    )
    figure(
        inquiry.store,
        chart,
        key="lengths",
        question=say("corpus.length_question"),
        caption=say("corpus.length_caption", step=step),
        frame=frame,
        alt=say("corpus.length_alt", longest=frame["n_tokens"].max()),
    )


def _types(inquiry: Inquiry) -> None:
    frame = inquiry.ask(token_type_counts)
    frame["name"] = frame["token_type"].map(token_type_name)
    frame["share"] = frame["n"] / frame["n"].sum()
    order = [token_type_name(kind) for kind in TOKEN_TYPE_COLOURS]
    shares = frame["name"] + " " + frame["share"].map(percent)
    share = say("corpus.share_axis")
    titles = {"name": say("corpus.token_type"), "n": say("corpus.tokens"), "share": share}
    base = Chart(frame).encode(
        y=alt.Y("name:N", title=None, sort=order, axis=alt.Axis(ticks=False, labelLimit=160)),
        x=alt.X("share:Q", title=share, axis=alt.Axis(format="%", tickCount=4)),
        color=alt.Color(
            "name:N",
            legend=None,
            scale=alt.Scale(domain=order, range=list(TOKEN_TYPE_COLOURS.values())),
        ),
        tooltip=tooltips(titles, frame, ".1%"),
    )
    figure(
        inquiry.store,
        base.mark_bar(cornerRadiusEnd=2).properties(height=220),
        key="types",
        question=say("corpus.type_question"),
        caption=say("corpus.type_caption"),
        frame=frame[["token_type", "n", "share"]],
        alt=say("corpus.type_alt", shares=say("list.comma").join(shares)),
    )


def _samples(inquiry: Inquiry) -> None:
    sequences = inquiry.ask(first_sequences, limit=_SAMPLES)
    with st.expander(say("corpus.samples", n=len(sequences))):
        for row in sequences.itertuples():
            st.caption(say("corpus.sample", number=row.seq, tokens=row.n_tokens))
            st.text(row.text)


def holdings(inquiry: Inquiry) -> None:
    """Tabulate the number of rows of every table."""
    rows = inquiry.store.rows
    frame = pd.DataFrame({"name": rows.keys(), "n_rows": rows.values()})
    frame = frame.loc[frame["n_rows"] > 0].sort_values("n_rows", ascending=False)
    table(
        inquiry.store,
        frame,
        key="holdings",
        question=say("holdings.question"),
        caption=say("holdings.caption"),
        columns={
            "name": st.column_config.TextColumn(say("holdings.table")),
            "n_rows": st.column_config.NumberColumn(say("holdings.rows"), format="localized"),
        },
        options={"height": "content"},
    )


def making(inquiry: Inquiry) -> None:
    """Show the run that made the file, and the command that repeats it."""
    store = inquiry.store
    st.markdown(say("making.again"))
    show_command(inquiry.store)
    with st.expander(say("making.everything")):
        facts = store.run.drop("statistics").to_dict() | store.facts
        frame = pd.DataFrame(
            {"name": facts.keys(), "value": [str(value) for value in facts.values()]}
        )
        columns = {"name": say("making.name"), "value": say("making.value")}
        st.dataframe(frame, hide_index=True, column_config=columns, alt=say("making.everything"))


def others(inquiry: Inquiry) -> list[Path]:
    """Paths of the other files of the folder."""
    return [path for path in files() if path.name != inquiry.store.name]


def other_files(inquiry: Inquiry) -> None:
    """List the other files of the folder as links to their overviews."""
    for path in others(inquiry):
        outcome = readable(path)
        left, right = st.columns([1, 3], vertical_alignment="center")
        with left:
            link("overview", plain(path.name), file=path.name)
        if isinstance(outcome, Store):
            names = {"model": plain(outcome.model_name), "corpus": plain(outcome.run["corpus"])}
            right.markdown(say("others.told", n=count(outcome.run["n_sequences"]), **names))
        else:
            right.markdown(why_unreadable(path, outcome))
