"""What queries and keys say along a text in the head's singular directions (figure 4)."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.positions import query_key_wave
from pages.ui.choices.pick import pick
from pages.ui.figure import figure
from pages.ui.store.chosen import ask
from pages.ui.words.offsets import ATTENTION_COLOUR, SCORE_COLOUR
from pages.ui.words.say import say

_SMALL, _COLUMNS = 6, 3
_WIDTH, _HEIGHT = 222, 90
_SIDES = {"query": ATTENTION_COLOUR, "key": SCORE_COLOUR}


def show(layer: int, head: int, seq: int) -> None:
    frame = ask(query_key_wave.of_head, layer=layer, head=head, seq=seq)
    if frame.empty:
        st.info(say("positions_head.waves.none"))
        return
    rank = _pick_rank(frame)
    chosen = frame[frame["rank"] == rank]
    value = f"{chosen['value'].iloc[0]:.2f}"
    question = say("positions_head.waves.question", rank=rank, value=value)
    figure(
        wave_chart(_sides(chosen)),
        key=f"po_wave_{layer}_{head}_{seq}_{rank}",
        question=question,
        caption=say("positions_head.waves.caption"),
        frame=chosen,
        alt=question,
    )
    _strongest(frame, f"{layer}_{head}_{seq}")


def _pick_rank(frame: pd.DataFrame) -> int:
    first = frame.drop_duplicates("rank")
    values = zip(first["rank"].tolist(), first["value"], strict=True)
    labels = {rank: f"{rank} · s = {value:.2f}" for rank, value in values}
    return pick(
        "po_direction",
        say("positions_head.waves.direction"),
        list(labels),
        default=next(iter(labels)),
        format=labels.__getitem__,
        kind="select",
        help=say("positions_head.waves.direction_help"),
    )


def _sides(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per side and position, sides under their names."""
    long = frame.melt(
        id_vars=["rank", "value", "pos"], value_vars=list(_SIDES), var_name="side", value_name="y"
    )
    return long.assign(side=long["side"].map(_side_name))


def _side_name(side: str) -> str:
    return say(f"positions_head.waves.{side}")


def wave_chart(frame: pd.DataFrame) -> Any:
    """Query and key of one direction over positions.

    Args:
        frame: rows pos, side, y.
    """
    base = _base(frame, small=False)
    return base.mark_line(strokeWidth=2, point={"size": 20, "filled": True}).properties(height=270)


def _strongest(frame: pd.DataFrame, name: str) -> None:
    """The strongest directions side by side, each on a scale of its own."""
    ranks = sorted(frame["rank"].unique())[:_SMALL]
    shown = frame[frame["rank"].isin(ranks)]
    question = say("positions_head.waves.strongest", n=len(ranks))
    figure(
        small_waves(_sides(shown)),
        key=f"po_waves_{name}",
        question=question,
        caption=say("positions_head.waves.strongest_caption"),
        frame=shown,
        alt=question,
    )


def small_waves(frame: pd.DataFrame) -> Any:
    """A small chart per direction.

    Args:
        frame: rows rank, value, pos, side, y.
    """
    parts = []
    for rank, part in frame.groupby("rank"):
        title = say("positions_head.waves.small", rank=rank, value=f"{part['value'].iloc[0]:.2f}")
        chart = _base(part, small=True).mark_line(strokeWidth=1.4)
        parts.append(chart.properties(title=title, width=_WIDTH, height=_HEIGHT))
    return alt.concat(*parts, columns=_COLUMNS, spacing=16)


def _base(frame: pd.DataFrame, *, small: bool) -> alt.Chart:
    position, value = say("positions_head.waves.position"), say("positions_head.waves.value")
    names = [_side_name(each) for each in _SIDES]
    legend = alt.Legend(orient="top", symbolType="stroke", labelLimit=0)
    colour = alt.Color(
        "side:N",
        title=" ",
        scale=alt.Scale(domain=names, range=list(_SIDES.values())),
        legend=legend,
    )
    return alt.Chart(frame).encode(
        x=alt.X(
            "pos:Q",
            title=None if small else position,
            scale=alt.Scale(zero=False, nice=False),
            axis=alt.Axis(tickMinStep=1, format="d", tickCount=4 if small else 12),
        ),
        y=alt.Y(
            "y:Q",
            title=None if small else value,
            scale=alt.Scale(zero=False),
            axis=alt.Axis(tickCount=3 if small else 6),
        ),
        color=colour,
        tooltip=[
            alt.Tooltip("pos:Q", title=position, format="d"),
            alt.Tooltip("side:N", title=" "),
            alt.Tooltip("y:Q", title=value, format=".3f"),
        ],
    )
