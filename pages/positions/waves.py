"""What queries and keys say along a text in the head's singular directions (figure 4)."""

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.positions import query_key_wave
from pages.ui.charts.colours import ATTENTION_COLOUR, SCORE_COLOUR
from pages.ui.charts.look import column_tooltips
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.place import said

_SMALL, _COLUMNS = 6, 3
_WIDTH, _HEIGHT = 222, 90
_SIDES = {"query": ATTENTION_COLOUR, "key": SCORE_COLOUR}


def waves(view: View, layer: int, head: int, seq: int) -> None:
    """One direction to choose, and the strongest ones side by side, each on a scale of its own."""
    frame = ask(query_key_wave.of_head, layer=layer, head=head, seq=seq)
    if frame.empty:
        st.info(view.say("no_waves"))
        return
    values = frame.drop_duplicates("rank").set_index("rank")["value"]
    labels = {int(rank): f"{rank} · s = {value:.2f}" for rank, value in values.items()}
    rank = view.pick("direction", list(labels), format=labels.__getitem__, kind="select")
    chosen = frame[frame["rank"] == rank]
    line = _wave(chosen, small=False).mark_line(strokeWidth=2, point={"size": 20, "filled": True})
    view.figure(
        "wave",
        chosen,
        line.properties(height=270),
        state=f"{layer}_{head}_{seq}_{rank}",
        rank=rank,
        value=f"{values[rank]:.2f}",
    )
    strongest = values.sort_index().head(_SMALL)
    shown = frame[frame["rank"].isin(strongest.index)]
    small = []
    for rank, value in strongest.items():
        chart = _wave(frame[frame["rank"] == rank], small=True).mark_line(strokeWidth=1.4)
        heading = view.say("waves_small", rank=rank, value=f"{value:.2f}")
        small.append(chart.properties(title=heading, width=_WIDTH, height=_HEIGHT))
    chart = alt.concat(*small, columns=_COLUMNS, spacing=16)
    view.figure("waves", shown, chart, state=f"{layer}_{head}_{seq}", n=len(strongest))


def _wave(frame: pd.DataFrame, *, small: bool) -> alt.Chart:
    """Query and key of one direction over positions.

    Args:
        frame: rows rank, value, pos, query, key.
        small: whether the axes are without titles.
    """
    names = {side: said(f"side_{side}") for side in _SIDES}
    long = frame.rename(columns=names).melt(
        id_vars=["rank", "value", "pos"],
        value_vars=list(names.values()),
        var_name="side",
        value_name="component",
    )
    legend = alt.Legend(orient="top", symbolType="stroke", labelLimit=0)
    scale = alt.Scale(domain=list(names.values()), range=list(_SIDES.values()))
    return alt.Chart(long).encode(
        x=alt.X(
            "pos:Q",
            title=None if small else title("pos"),
            scale=alt.Scale(zero=False, nice=False),
            axis=alt.Axis(tickMinStep=1, format="d", tickCount=4 if small else 12),
        ),
        y=alt.Y(
            "component:Q",
            title=None if small else title("component"),
            scale=alt.Scale(zero=False),
            axis=alt.Axis(tickCount=3 if small else 6),
        ),
        color=alt.Color("side:N", title=" ", scale=scale, legend=legend),
        tooltip=column_tooltips(long, pos="d", side="", component=".3f"),
    )
