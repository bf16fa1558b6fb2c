"""Where a head looks in one text, and on average over all (figure 2)."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.positions import exemplar_attention, query_key_wave, relative_position_profile
from pages.ui.charts.pieces import readable
from pages.ui.choices.pick import pick
from pages.ui.figure import figure
from pages.ui.store.chosen import ask
from pages.ui.words.offsets import ATTENTION_COLOUR, PEAK_COLOUR, offset_axis
from pages.ui.words.say import say

_SIDE = 330
_SPACE = "␣"
_SHORT = 60  # characters of a text that stand in the picker


def show(layer: int, head: int, *, causal: bool) -> int:
    """The map of a text to choose and the mean profile of all texts beside it.

    Returns:
        the sequence number of the text.
    """
    seq = _pick_text()
    left, right = st.columns(2)
    with left:
        _map(layer, head, seq, causal=causal)
    with right:
        _profile(layer, head)
    return seq


def _pick_text() -> int:
    texts = ask(query_key_wave.exemplars).sort_values("seq")
    labels = {int(row.seq): _label(row) for row in texts.itertuples()}
    return pick(
        "po_text",
        say("positions_head.one_head.text"),
        list(labels),
        default=next(iter(labels)),
        format=labels.__getitem__,
        kind="select",
        help=say("positions_head.one_head.text_help"),
    )


def _label(row: Any) -> str:
    text = str(row.text)
    shown = f"{text[:_SHORT].rstrip()} …" if len(text) > _SHORT else text
    return say("positions_head.one_head.text_label", seq=row.seq, n=row.n_tokens, text=shown)


def _map(layer: int, head: int, seq: int, *, causal: bool) -> None:
    frame = ask(exemplar_attention.of_head, layer=layer, head=head, seq=seq)
    if causal:
        frame = frame[frame["key_pos"] <= frame["query_pos"]]
    if frame.empty:
        st.info(say("positions_head.one_head.no_map"))
        return
    question = say("positions_head.one_head.map")
    figure(
        map_of_tokens(frame),
        key=f"po_map_{layer}_{head}_{seq}",
        question=question,
        caption=say("positions_head.one_head.map_caption"),
        frame=frame,
        alt=question,
    )


def map_of_tokens(frame: pd.DataFrame) -> Any:
    """Queries down, keys across, and a dotted line where a token looks at itself.

    Args:
        frame: rows query_pos, key_pos, query_token, key_token, attention.
    """
    tokens = frame[frame["query_pos"] == frame["key_pos"]].sort_values("query_pos")
    names = dict(zip(tokens["query_pos"], _labels(tokens), strict=True))
    shown = frame.assign(query=frame["query_pos"].map(names), key=frame["key_pos"].map(names))
    told = {"labelOverlap": False, "labelFlush": False, "labelLimit": 90, "ticks": False}
    base = alt.Chart(shown).encode(
        x=alt.X(
            "key:N",
            title=say("positions_head.one_head.key"),
            sort=list(names.values()),
            axis=alt.Axis(labelAngle=-90, **told),
        ),
        y=alt.Y(
            "query:N",
            title=say("positions_head.one_head.query"),
            sort=list(names.values()),
            axis=alt.Axis(**told),
        ),
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "attention:Q",
            title=say("positions_head.attention"),
            scale=alt.Scale(type="sqrt", scheme="viridis", domainMin=0),
            legend=alt.Legend(orient="bottom", format=".0%", gradientLength=200, tickCount=4),
        ),
        tooltip=[
            alt.Tooltip("query:N", title=say("positions_head.one_head.query")),
            alt.Tooltip("key:N", title=say("positions_head.one_head.key")),
            alt.Tooltip("attention:Q", title=say("positions_head.attention"), format=".1%"),
        ],
    )
    diagonal = base.transform_filter("datum.query_pos === datum.key_pos").mark_line(
        color=PEAK_COLOUR, strokeDash=[2, 4], strokeWidth=2, order=True, tooltip=False
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


def _profile(layer: int, head: int) -> None:
    frame = ask(relative_position_profile.of_head, layer=layer, head=head).dropna(subset="mean")
    if frame.empty:
        st.info(say("positions_head.one_head.no_profile"))
        return
    n = int(frame["n_sequences"].iloc[0])
    question = say("positions_head.one_head.profile")
    figure(
        profile_chart(frame),
        key=f"po_profile_{layer}_{head}",
        question=question,
        caption=say("positions_head.one_head.profile_caption", n=f"{n:,}"),
        frame=frame,
        alt=question,
    )


def profile_chart(frame: pd.DataFrame) -> Any:
    """Mean attention over offsets with the quartiles over texts, from 0.

    Args:
        frame: rows offset, mean, low, high.
    """
    title = say("positions_head.one_head.profile_axis")
    base = alt.Chart(frame).encode(
        x=alt.X("offset:Q", title=say("positions_head.offset"), axis=offset_axis(tickCount=11)),
        tooltip=[
            alt.Tooltip("offset:Q", title=say("positions_head.offset"), format="+d"),
            alt.Tooltip("mean:Q", title=title, format=".2%"),
            alt.Tooltip("low:Q", title=say("positions_head.quartile_low"), format=".2%"),
            alt.Tooltip("high:Q", title=say("positions_head.quartile_high"), format=".2%"),
        ],
    )
    band = base.mark_area(opacity=0.22, color=ATTENTION_COLOUR).encode(
        y=alt.Y("low:Q", title=title, axis=alt.Axis(format="%", tickCount=5)), y2="high"
    )
    line = base.mark_line(
        color=ATTENTION_COLOUR, point={"size": 36, "filled": True, "color": ATTENTION_COLOUR}
    ).encode(y=alt.Y("mean:Q", title=title))
    zero = alt.Chart(pd.DataFrame({"offset": [0]}))
    rule = zero.mark_rule(color=PEAK_COLOUR, strokeDash=[2, 4], strokeWidth=2)
    return alt.layer(band, line, rule.encode(x="offset:Q")).properties(height=_SIDE)
