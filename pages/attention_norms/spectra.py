"""By how much f stretches and shrinks: the singular values of every head (figure 2)."""

import math

import pandas as pd
import streamlit as st

from analysis.tables.norms import singular_value
from pages.attention_norms.spectrum_chart import spectrum_chart
from pages.ui.about import about
from pages.ui.charts.head_map import CELL, from_zero, head_map
from pages.ui.choices.clicks import clickable, fresh_click
from pages.ui.choices.pick import choose, pick, pick_many
from pages.ui.figure import figure, table
from pages.ui.store.chosen import ask, open_store, require
from pages.ui.words.numbers import count
from pages.ui.words.say import say

_CHART = "stretch"
_MOST = 24
_MUCH = math.log(1.25)  # a ratio that differs by more than a quarter


def show() -> None:
    require(singular_value.TABLE)
    _follow_click()
    st.header(say("attention_norms.spectra.title"), anchor=False)
    stretch = _stretch()
    st.markdown(_finding(stretch))
    chosen = _pick_heads(stretch)
    _spectra(chosen, stretch)
    _map(stretch, len(chosen))
    _table(stretch)
    about(singular_value.TABLE)


def _stretch() -> pd.DataFrame:
    """Every head with its largest and smallest value and their ratio, missing where one is 0."""
    frame = ask(singular_value.extremes)
    ratio, linear = (
        frame[f"{part}largest"] / frame[f"{part}smallest"].where(frame[f"{part}smallest"] > 0)
        for part in ("", "linear_")
    )
    name = frame["layer"].astype(str) + "-" + frame["head"].astype(str)
    return frame.assign(ratio=ratio, linear_ratio=linear, name=name)


def _finding(stretch: pd.DataFrame) -> str:
    ratio = stretch["ratio"].dropna()
    if ratio.empty:
        return say("attention_norms.spectra.no_ratio")
    return say(
        "attention_norms.spectra.finding",
        least=f"{ratio.min():.1f}",
        median=f"{ratio.median():.1f}",
        most=f"{ratio.max():.1f}",
        n=int(((stretch["ratio"] / stretch["linear_ratio"]).map(math.log).abs() > _MUCH).sum()),
        of=len(stretch),
        linear=f"{stretch['linear_ratio'].median():.1f}",
    )


def _pick_heads(stretch: pd.DataFrame) -> list[str]:
    """The heads to draw, as `layer-head`; one of every layer unless others were chosen."""
    named = {each: _head_name(each) for each in stretch["name"]}
    return pick_many(
        "an_heads",
        say("attention_norms.spectra.heads"),
        list(named),
        default=stretch.groupby("layer")["name"].first().tolist()[:_MOST],
        format=named.__getitem__,
        help=say("attention_norms.spectra.heads_help"),
        limit=_MOST,
    )


def _head_name(name: str) -> str:
    layer, head = name.split("-")
    return say("attention_norms.head_name", layer=layer, head=head)


def _follow_click() -> None:
    """Add the head that was clicked in the map, or take it away, before the picker is drawn."""
    for cell in fresh_click(_CHART).get(CELL, []):
        name = f"{cell['layer']}-{cell['head']}"
        heads = list(st.session_state.get("an_heads", []))
        if name in heads:
            heads.remove(name)
        elif len(heads) < _MOST:
            heads.append(name)
        choose("an_heads", heads)


def _spectra(chosen: list[str], stretch: pd.DataFrame) -> None:
    scale = pick(
        "an_spectrum",
        say("attention_norms.spectra.scale"),
        ["linear", "log"],
        default="linear",
        format=lambda each: say(f"attention_norms.spectra.{each}"),
    )
    frame = ask(
        singular_value.spectra, heads=[(row.layer, row.head) for row in stretch.itertuples()]
    )
    frame = frame[frame["value"] > 0] if scale == "log" else frame
    name = frame["layer"].astype(str) + "-" + frame["head"].astype(str)
    shown = frame[name.isin(chosen)].assign(name=name.map(_head_name))
    ranks = frame.groupby("rank")["value"].agg(low="min", high="max").reset_index()
    figure(
        spectrum_chart(shown, ranks, log=scale == "log"),
        key=f"an_spectra_{scale}",
        question=say("attention_norms.spectra.question"),
        caption=say(
            "attention_norms.spectra.caption",
            rank=count(frame["rank"].max()),
            width=count(open_store().run["hidden_size"] + 1),
        ),
        frame=shown,
        alt=say("attention_norms.spectra.question"),
    )


def _map(stretch: pd.DataFrame, n_chosen: int) -> None:
    frame = stretch.dropna(subset="ratio")
    if frame.empty:
        return
    chart = head_map(
        frame,
        "ratio",
        say("attention_norms.spectra.ratio"),
        from_zero(float(frame["ratio"].max()), low=1.0),
        format=".1f",
    )
    clickable(
        chart,
        _CHART,
        key=f"an_stretch_{n_chosen}",
        question=say("attention_norms.spectra.map"),
        caption=say("attention_norms.spectra.map_caption"),
        frame=frame,
    )


def _table(stretch: pd.DataFrame) -> None:
    number = st.column_config.NumberColumn
    table(
        stretch.sort_values("ratio", ascending=False),
        key="an_stretch_table",
        question=say("attention_norms.spectra.table"),
        caption=say("attention_norms.spectra.table_caption"),
        columns={
            "layer": number(say("axis.layer")),
            "head": number(say("axis.head")),
            "largest": number(say("attention_norms.spectra.largest"), format="%.3f"),
            "smallest": number(say("attention_norms.spectra.smallest"), format="%.3f"),
            "ratio": number(say("attention_norms.spectra.ratio"), format="%.1f"),
            "linear_ratio": number(say("attention_norms.spectra.linear_ratio"), format="%.1f"),
        },
        placeholder="—",
    )
