"""Places that a head looks at: its attention in one text or image, and by offset over all."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.positions.attention import REACH
from pages.charts.chart_theme import (
    Chart,
    column_tooltips,
    layered,
    ramp_below,
)
from pages.charts.colours import INKS, MARKED
from pages.drawn.head_in_text import MAP_OF_HEAD
from pages.drawn.image_ground import ImageGround, ground_of
from pages.drawn.pieces import written
from pages.drawn.shaded_sequence import received_tokens
from pages.kit.head_choice import row_of
from pages.kit.kinds import Custom
from pages.kit.links import link_to_sequence
from pages.kit.section import Choices, Figure, of_head, rows_of
from pages.kit.view import View
from pages.services.inquiry import Inquiry
from pages.words.columns import title
from pages.words.lines import beginning
from pages.words.numbers import offset_label
from pages.words.scope import say_here

_SIDE, _CELL = 330, 28
_IMAGE, _SPECIAL = 380, 26  # width of an image, height of the row of its special tokens
_PROFILE = f"""
    with share as (
        select unnest(range({-REACH}, {REACH + 1}))::smallint as "offset",
            unnest(profile)::double / n_tokens as attention
        from sequence_relative_position where layer = $layer and head = $head)
    select "offset", avg(attention) as mean, quantile_cont(attention, 0.25) as q25,
        quantile_cont(attention, 0.75) as q75, count(*) as n_sequences
    from share where attention is not null group by "offset" order by "offset" """
_TEXTS = """
    select seq, n_tokens, text from sequence where seq in (select seq from exemplar_attention)
    order by seq"""
_IMAGES = """
    select seq, name from image
    where seq in (select seq from exemplar_attention) or not exists (from exemplar_attention)
    order by seq"""
_SHORT = 60  # characters of a text that stand in the picker


def texts(inquiry: Inquiry, _: Choices) -> dict[int, str]:
    """Names of the texts or images whose attention is stored."""
    if inquiry.store.shows_images:
        named = rows_of(_IMAGES, inquiry, {})
        return {int(seq): f"{seq}, {name}" for seq, name in named.to_numpy()}
    rows = rows_of(_TEXTS, inquiry, {}).itertuples(index=False, name=None)
    return {
        seq: say_here("text_label", seq=seq, n=n, text=beginning(text, _SHORT))
        for seq, n, text in rows
    }


def weights(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Attention of a head between the tokens of a text."""
    if choices["text"] is None:
        return pd.DataFrame()
    frame = rows_of(MAP_OF_HEAD, inquiry, {**choices, "seq": choices["text"]})
    return frame[frame["key_pos"] <= frame["query_pos"]] if inquiry.store.is_causal else frame


def received(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Attention or length that tokens of an image receive, mean over queries: pos, token, value."""
    of = of_head(choices)
    sequences = [] if choices["text"] is None else [choices["text"]]
    frame = received_tokens(inquiry, **of, sequences=sequences)
    return frame[["pos", "token", choices["shown"]]]


def show_image(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record a map over the image itself."""
    if ground := ground_of(view, choices["text"]):
        view.figure(figure.name, frame, _image(ground, frame, choices["shown"]), width="content")
        view.draw(link_to_sequence, choices["text"])


def _image(ground: ImageGround, frame: pd.DataFrame, value: str) -> Any:
    """Draw special tokens in a row above the patches, over the picture."""
    n, cell = len(ground.special), _IMAGE / ground.columns
    top, wide = (_SPECIAL + 6 if n else 0), _IMAGE / max(n, 1)
    tall = top + cell * ground.rows
    special = [(at * wide, 0, (at + 1) * wide, _SPECIAL) for at in range(n)]
    corners = (ground.places() - 1) * cell
    patches = [
        (x, y + top, x + cell, y + top + cell)
        for x, y in zip(corners["column"], corners["row"], strict=True)
    ]
    boxes = pd.DataFrame([*special, *patches][: len(frame)], columns=["x", "y", "x2", "y2"])
    shown = frame.join(boxes)
    scales = (alt.Scale(domain=[0, _IMAGE], nice=False), alt.Scale(domain=[tall, 0], nice=False))
    at = {
        "x": alt.X("x:Q", axis=None, scale=scales[0]),
        "y": alt.Y("y:Q", axis=None, scale=scales[1]),
    }
    ends: dict[str, Any] = {**at, "x2": alt.X2("x2"), "y2": alt.Y2("y2")}
    scale = alt.Scale(scheme="viridis", domain=[0, float(frame[value].max()) or 1.0])
    form = ".1%" if value == "attention" else ".2f"
    legend = ramp_below(200, format=form)
    cells = (
        Chart(shown)
        .mark_rect(opacity=1, cursor="pointer")
        .encode(
            **ends,
            color=alt.Color(f"{value}:Q", title=title(value), scale=scale, legend=legend),
            tooltip=column_tooltips(shown, token="", **{value: form}),
        )
    )
    parts = [cells]
    if address := ground.address(outlined=True):
        size: dict[str, Any] = {"width": _IMAGE, "height": tall - top, "aspect": False}
        look: dict[str, Any] = {"align": "left", "baseline": "top", "tooltip": False}
        corner = Chart(pd.DataFrame({"x": [0], "y": [top]}))
        parts.append(corner.mark_image(url=address, **size, **look, aria=False).encode(**at))
    for ink, more in ((INKS[1], {"stroke": INKS[1], "strokeWidth": 3}), (INKS[0], {})):
        words = Chart(shown[shown.index < n]).mark_text(
            align="left", baseline="top", dx=4, dy=6, fontSize=13, color=ink, tooltip=False, **more
        )
        parts.append(words.encode(**at, text=alt.Text("token:N")))
    size = {"width": _IMAGE, "height": round(tall)}
    return layered(*parts, autosize=alt.AutoSizeParams(type="pad"), **size)


def attention_map(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw queries down and keys across; a dotted line marks the diagonal."""
    tokens = frame[frame["query_pos"] == frame["key_pos"]]
    places, pieces = tokens["query_pos"], written(tokens["query_token"].tolist())
    names = {at: f"{piece} {at}" for piece, at in zip(pieces, places, strict=True)}
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


ATTENTION_MAP = Custom(
    chart=attention_map, value="attention", format=".1%", marks=("query_pos", "key_pos")
)


def profile(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Mean attention per token by offset, with its quartiles over texts."""
    return rows_of(_PROFILE, inquiry, choices)


def found(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Offset with most attention and the one after it; η² of the head and of the median head."""
    of = of_head(choices)
    frame = profile(inquiry, choices).nlargest(2, "mean")
    rows = [
        {"sentence": 1, "name": name, "value": row["mean"], "offset": offset_label(row["offset"])}
        for name, (_, row) in zip(("most", "next"), frame.iterrows(), strict=False)
    ]
    heads = rows_of("select layer, head, dependence from head_offset", inquiry, {})
    own = row_of(heads, *of.values())
    if own is not None and pd.notna(own["dependence"]):
        values = {"dependence": own["dependence"], "median": heads["dependence"].median()}
        rows += [
            {"sentence": 2, "name": name, "value": value, "format": ".2f"}
            for name, value in values.items()
        ]
    return pd.DataFrame([row | of for row in rows])
