"""Attention of one head in one text and on average (figure 2), and its singular directions.

Queries and keys are drawn along the text in each direction (figure 4).
"""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.positions import (
    exemplar_attention,
    query_key_wave,
    relative_position_profile,
)
from pages.positions.offsets import offset_axis
from pages.ui.charts.chart_theme import Chart, column_tooltips, layered, with_axes
from pages.ui.charts.colours import ATTENTION_COLOUR, MARKED, SCORE_COLOUR
from pages.ui.charts.pieces import written
from pages.ui.charts.standard import lines
from pages.ui.choices.links import link_to_sequence
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.lines import beginning
from pages.ui.words.numbers import count
from pages.ui.words.scope import say_here

_SIDE = 330
_SHORT = 60  # characters of a text that stand in the picker
_SIDES = {"query": ATTENTION_COLOUR, "key": SCORE_COLOUR}
_SMALL, _COLUMNS = 6, 3
_WIDTH, _HEIGHT = 222, 90


def attention(view: View, layer: int, head: int) -> int:
    """Draw the attention map of a picked text beside the mean profile of all texts.

    Returns:
        the sequence number of the text.
    """
    texts = view.ask(exemplar_attention.exemplars).itertuples(index=False, name=None)
    labels = {
        seq: view.say("text_label", seq=seq, n=n, text=beginning(text, _SHORT))
        for seq, n, text in texts
    }
    seq = view.pick("text", labels, kind="select")
    left, right = view.columns(2)
    with left:
        frame = view.ask(exemplar_attention.of_head, layer=layer, head=head, seq=seq)
        if view.store.is_causal:
            frame = frame[frame["key_pos"] <= frame["query_pos"]]
        view.figure("map", frame, _map(frame), state=f"{layer}_{head}_{seq}")
    with right:
        _profile(view, layer, head)
    view.draw(link_to_sequence, seq)
    return seq


def _map(frame: pd.DataFrame) -> Any:
    """Draw queries down and keys across; a dotted line marks the diagonal."""
    tokens = frame[frame["query_pos"] == frame["key_pos"]]
    names = dict(zip(tokens["query_pos"], _labels(tokens), strict=True))
    shown = frame.assign(query=frame["query_pos"].map(names), key=frame["key_pos"].map(names))
    plain: dict[str, Any] = {"labelOverlap": False, "labelFlush": False, "labelLimit": 90}
    across, down = (alt.Axis(labelAngle=angle, ticks=False, **plain) for angle in (-90, 0))
    order = list(names.values())
    base = Chart(shown).encode(
        x=alt.X("key:N", title=title("key"), sort=order, axis=across),
        y=alt.Y("query:N", title=title("query"), sort=order, axis=down),
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "attention:Q",
            title=title("attention"),
            scale=alt.Scale(type="sqrt", scheme="viridis", domainMin=0),
            legend=alt.Legend(orient="bottom", format=".0%", gradientLength=200, tickCount=4),
        ),
        tooltip=column_tooltips(shown, query="", key="", attention=".1%"),
    )
    diagonal = base.transform_filter("datum.query_pos === datum.key_pos").mark_line(
        color=MARKED, strokeDash=[2, 4], strokeWidth=2, order=True, tooltip=False
    )
    return layered(cells, diagonal, height=_SIDE + 120)


def _labels(tokens: pd.DataFrame) -> list[str]:
    """Tokens as text with their positions, so that labels are unique."""
    pieces = written(tokens["query_token"].tolist())
    return [
        f"{piece} {position}" for piece, position in zip(pieces, tokens["query_pos"], strict=True)
    ]


def _profile(view: View, layer: int, head: int) -> None:
    """Draw the mean attention over offsets with the quartiles over texts; a dotted line marks 0."""
    frame = view.ask(relative_position_profile.of_head, layer=layer, head=head)
    curve = lines(frame, x="offset", y="mean", ends=("q25", "q75"), format=".2%")
    curve = with_axes(curve, x=offset_axis(tickCount=11), y=alt.Axis(format="%", tickCount=5))
    zero = Chart(pd.DataFrame({"offset": [0]})).encode(x=alt.X("offset:Q"))
    dotted = zero.mark_rule(color=MARKED, strokeDash=[2, 4], strokeWidth=2)
    chart = layered(curve, dotted, height=_SIDE)
    n = count(frame["n_sequences"].iloc[0])
    view.figure("profile", frame, chart, state=f"{layer}_{head}", n=n)


def waves(view: View, layer: int, head: int, seq: int) -> None:
    """Draw one picked singular direction, and the strongest ones side by side.

    The small charts have scales of their own.
    """
    frame = view.ask(query_key_wave.of_head, layer=layer, head=head, seq=seq)
    if frame.empty:
        return view.nothing("no_waves")
    values = frame.drop_duplicates("rank").set_index("rank")["value"]
    labels = {int(rank): f"{rank} · s = {value:.2f}" for rank, value in values.items()}
    rank = view.pick("direction", labels, kind="select")
    frame = _of_sides(frame)
    chosen, place = frame[frame["rank"] == rank], f"{layer}_{head}_{seq}"
    value, wave = f"{values[rank]:.2f}", _wave(chosen, height=270)
    view.figure("wave", chosen, wave, state=f"{place}_{rank}", rank=rank, value=value)
    strongest = values.head(_SMALL)
    shown = frame[frame["rank"].isin(strongest.index)]
    small = [_small(view, part, rank) for rank, part in shown.groupby("rank")]
    chart = alt.concat(*small, columns=_COLUMNS, spacing=16)
    view.figure("waves", shown, chart, state=place, n=len(strongest))


def _small(view: View, frame: pd.DataFrame, rank: Any) -> Any:
    """Draw a wave without axis titles, under the name of its direction."""
    chart = _wave(frame, height=_HEIGHT, points=False)
    chart.encoding.x.title = chart.encoding.y.title = None
    axes = {"x": alt.Axis(format="d", tickCount=4), "y": alt.Axis(tickCount=3)}
    heading = view.say("waves_small", rank=rank, value=f"{frame['value'].iloc[0]:.2f}")
    return with_axes(chart, **axes).properties(title=heading, width=_WIDTH)


def _of_sides(frame: pd.DataFrame) -> pd.DataFrame:
    """Reshape to a row per component: rank, value, pos, side, component."""
    names = {side: say_here(f"side_{side}") for side in _SIDES}
    return frame.rename(columns=names).melt(
        id_vars=["rank", "value", "pos"],
        value_vars=list(names.values()),
        var_name="side",
        value_name="component",
    )


def _wave(frame: pd.DataFrame, *, height: int, points: bool = True) -> Any:
    """Draw query and key components of one direction over positions."""
    return lines(
        frame,
        x="pos",
        y="component",
        colour="side",
        colour_title=" ",
        colours={say_here(f"side_{side}"): colour for side, colour in _SIDES.items()},
        zero=False,
        points=points,
        height=height,
    )
