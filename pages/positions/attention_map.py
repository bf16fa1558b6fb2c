"""Where a head looks in one text, and on average over all (figure 2)."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.positions import exemplar_attention, query_key_wave, relative_position_profile
from pages.positions.offsets import offset_axis
from pages.ui.charts.colours import ATTENTION_COLOUR, MARKED
from pages.ui.charts.look import column_tooltips
from pages.ui.charts.pieces import readable
from pages.ui.store.chosen import ask, is_causal
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import count

_SIDE = 330
_SPACE = "␣"
_SHORT = 60  # characters of a text that stand in the picker


def attention(view: View, layer: int, head: int) -> int:
    """The map of a text to choose and the mean profile of all texts beside it.

    Returns:
        the sequence number of the text.
    """
    texts = ask(query_key_wave.exemplars).sort_values("seq").itertuples()
    labels = {int(row.seq): _label(view, row) for row in texts}
    seq = view.pick("text", list(labels), format=labels.__getitem__, kind="select")
    left, right = st.columns(2)
    with left:
        _map(view, layer, head, seq)
    with right:
        _profile(view, layer, head)
    return seq


def _label(view: View, row: Any) -> str:
    text = str(row.text)
    shown = f"{text[:_SHORT].rstrip()} …" if len(text) > _SHORT else text
    return view.say("text_label", seq=row.seq, n=row.n_tokens, text=shown)


def _map(view: View, layer: int, head: int, seq: int) -> None:
    frame = ask(exemplar_attention.of_head, layer=layer, head=head, seq=seq)
    if is_causal():
        frame = frame[frame["key_pos"] <= frame["query_pos"]]
    if frame.empty:
        st.info(view.say("no_map"))
    else:
        view.figure("map", frame, _map_of_tokens(frame), state=f"{layer}_{head}_{seq}")


def _map_of_tokens(frame: pd.DataFrame) -> Any:
    """Queries down, keys across, and a dotted line where a token looks at itself.

    Args:
        frame: rows query_pos, key_pos, query_token, key_token, attention.
    """
    tokens = frame[frame["query_pos"] == frame["key_pos"]].sort_values("query_pos")
    names = dict(zip(tokens["query_pos"], _labels(tokens), strict=True))
    shown = frame.assign(query=frame["query_pos"].map(names), key=frame["key_pos"].map(names))
    plain: dict[str, Any] = {"labelOverlap": False, "labelFlush": False, "labelLimit": 90}
    across, down = (alt.Axis(labelAngle=angle, ticks=False, **plain) for angle in (-90, 0))
    order = list(names.values())
    base = alt.Chart(shown).encode(
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
    return alt.layer(cells, diagonal).properties(height=_SIDE + 120)


def _labels(tokens: pd.DataFrame) -> list[str]:
    """Tokens as they are read, with their positions: two of one text have two labels."""
    written = tokens["query_token"].tolist()
    pieces = zip(written, readable(written), tokens["query_pos"], strict=True)
    return [
        f"{token if token.startswith('##') else piece.strip() or _SPACE} {position}"
        for token, (_, piece), position in pieces
    ]


def _profile(view: View, layer: int, head: int) -> None:
    frame = ask(relative_position_profile.of_head, layer=layer, head=head).dropna(subset="mean")
    if frame.empty:
        st.info(view.say("no_profile"))
        return
    n = count(frame["n_sequences"].iloc[0])
    view.figure("profile", frame, _profile_chart(frame), state=f"{layer}_{head}", n=n)


def _profile_chart(frame: pd.DataFrame) -> Any:
    """Mean attention over offsets with the quartiles over texts, from 0.

    Args:
        frame: rows offset, mean, low, high.
    """
    share = {"title": title("mean"), "axis": alt.Axis(format="%", tickCount=5)}
    base = alt.Chart(frame).encode(
        x=alt.X("offset:Q", title=title("offset"), axis=offset_axis(tickCount=11)),
        tooltip=column_tooltips(frame, offset="+d", mean=".2%", low=".2%", high=".2%"),
    )
    band = base.mark_area(opacity=0.22, color=ATTENTION_COLOUR)
    points = {"size": 36, "filled": True, "color": ATTENTION_COLOUR}
    line = base.mark_line(color=ATTENTION_COLOUR, point=points)
    zero = alt.Chart(pd.DataFrame({"offset": [0]})).encode(x="offset:Q")
    return alt.layer(
        band.encode(y=alt.Y("low:Q", **share), y2="high"),
        line.encode(y=alt.Y("mean:Q", **share)),
        zero.mark_rule(color=MARKED, strokeDash=[2, 4], strokeWidth=2),
    ).properties(height=_SIDE)
