"""Are frequent words made of more context than rare ones (Kobayashi et al. 2021, table 3)?"""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.mixing import ratio_frequency_correlation, token_mixing_ratio
from pages.layer_mixing.published import special_name, with_frequency
from pages.ui.about import about
from pages.ui.charts.look import SERIES_COLOURS
from pages.ui.charts.standard import bars
from pages.ui.choices.pick import pick
from pages.ui.figure import figure, table
from pages.ui.published import beside
from pages.ui.store.absences import has_special
from pages.ui.store.chosen import ask, layer_order, require
from pages.ui.words.numbers import count, signed
from pages.ui.words.say import say
from pages.ui.words.scope_names import scope_name

_DRAWN = 1_500


def show() -> None:
    require(ratio_frequency_correlation.TABLE, token_mixing_ratio.TABLE)
    st.header(say("layer_mixing.frequency.title"), anchor=False)
    st.markdown(say("layer_mixing.frequency.meaning"))
    every = ask(ratio_frequency_correlation.correlations)
    frame = _named(every if has_special() else every[~every["special_tokens"]])
    if frame["spearman"].isna().all():
        st.info(say("layer_mixing.frequency.nothing_varies"))
        return
    for source, part in frame.groupby("source", sort=False):
        _source(str(source), part.dropna(subset="spearman"))
    _words()
    _table(frame)
    _published(every)
    about(ratio_frequency_correlation.TABLE, token_mixing_ratio.TABLE)


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """With the words that a reader sees in place of the file's."""
    return frame.assign(
        name=frame["scope"].map(scope_name),
        special=[
            say(f"layer_mixing.frequency.{special_name(each)}") for each in frame["special_tokens"]
        ],
        origin=[say(f"layer_mixing.frequency.source_{each}") for each in frame["source"]],
    )


def _source(source: str, frame: pd.DataFrame) -> None:
    """One bar per scope, with and without special tokens."""
    if frame.empty:
        return
    st.markdown(_finding(frame[~frame["special_tokens"]].set_index("scope")))
    question = say(f"layer_mixing.frequency.question_{source}")
    chart = bars(
        frame,
        x="name",
        y="spearman",
        colour="special",
        low="low",
        high="high",
        x_title="",
        y_title=say("layer_mixing.rho"),
        colour_title=" ",
        order=[scope_name(each) for each in layer_order().of_ratios],
    )
    figure(
        chart,
        key=f"lm_frequency_{source}",
        question=question,
        caption=say("layer_mixing.frequency.caption"),
        frame=frame,
        alt=question,
    )


def _finding(words: pd.DataFrame) -> str:
    """What attention with all that is around it says, and what the weights say by themselves."""
    before = layer_order().before_network
    if not {before, "attn_w"} <= set(words.index):
        return ""
    told = words[["spearman", "low", "high"]].astype(float).to_dict("index")
    block, weights = told[before], told["attn_w"]
    step = "rare" if block["low"] > 0 else "frequent" if block["high"] < 0 else "unclear"
    return say(
        f"layer_mixing.frequency.finding_{step}",
        scope=scope_name(before),
        rho=signed(block["spearman"]),
        interval=_interval(block),
        weights_scope=scope_name("attn_w"),
        weights_rho=signed(weights["spearman"]),
        weights_interval=_interval(weights),
    )


def _interval(row: Mapping[Any, float]) -> str:
    if pd.isna(row["low"]):
        return say("layer_mixing.frequency.no_interval")
    ends = {name: signed(row[name]) for name in ("low", "high")}
    return say("layer_mixing.frequency.interval", **ends)


def _words() -> None:
    """Every word as a point: how frequent it is here, and how much of it is context."""
    scope = pick(
        "lm_frequency_scope",
        say("layer_mixing.pick_scope"),
        layer_order().of_ratios,
        default=layer_order().before_network,
        format=scope_name,
    )
    frame = ask(token_mixing_ratio.words, scope=scope, special=False, limit=_DRAWN)
    question = say("layer_mixing.frequency.words", scope=scope_name(scope))
    figure(
        _scatter(frame),
        key=f"lm_frequency_words_{scope}",
        question=question,
        caption=say("layer_mixing.frequency.words_caption", n=count(len(frame))),
        frame=frame,
        alt=question,
    )


def _scatter(frame: pd.DataFrame) -> Any:
    return (
        alt.Chart(frame)
        .mark_circle(size=26, opacity=0.5, color=SERIES_COLOURS[0])
        .encode(
            x=alt.X(
                "rank:Q",
                title=say("layer_mixing.frequency.rank"),
                scale=alt.Scale(type="log", nice=False, padding=8),
                axis=alt.Axis(format="d", tickCount=6),
            ),
            y=alt.Y(
                "ratio:Q",
                title=say("layer_mixing.ratio.axis"),
                scale=alt.Scale(zero=False, padding=8),
            ),
            tooltip=[
                alt.Tooltip("token:N", title=say("layer_mixing.frequency.token")),
                alt.Tooltip("rank:Q", title=say("layer_mixing.frequency.rank"), format=",d"),
                alt.Tooltip("n:Q", title=say("layer_mixing.tokens"), format=",d"),
                alt.Tooltip("ratio:Q", title=say("layer_mixing.ratio.axis"), format=".3f"),
            ],
        )
        .properties(height=360)
    )


def _table(frame: pd.DataFrame) -> None:
    number = st.column_config.NumberColumn
    table(
        frame,
        key="lm_frequency_table",
        question=say("layer_mixing.frequency.table"),
        caption=say("layer_mixing.frequency.table_caption"),
        columns={
            "origin": say("layer_mixing.frequency.origin"),
            "name": say("layer_mixing.scope"),
            "special": say("layer_mixing.frequency.special"),
            "spearman": number(say("layer_mixing.rho"), format="%.3f"),
            "low": number(say("layer_mixing.low"), format="%.3f"),
            "high": number(say("layer_mixing.high"), format="%.3f"),
            "n": number(say("layer_mixing.frequency.n"), format="localized"),
        },
        placeholder="—",
    )


def _published(frame: pd.DataFrame) -> None:
    rows = with_frequency(frame)
    beside(*rows, key="lm_published_frequency", title=say("published.title_ratio_frequency"))
    if all(each.ours is None for each in rows):
        st.caption(say("layer_mixing.frequency.no_file"))
