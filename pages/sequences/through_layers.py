"""One token through the layers: shares that it takes and gives in each."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.sequences.shares import MapOf, shares_of
from pages.sequences.subject import Subject
from pages.ui.charts.chart_theme import Chart, layered, tooltips
from pages.ui.charts.colours import NEUTRAL, SERIES_COLOURS
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import percent
from pages.ui.words.say import plain

_NAMED = 5  # tokens whose lines bear their names
_HEIGHT, _LABEL = 300, 20  # pixels
_SIDES = ("takes", "gives")


def through_layers(view: View, subject: Subject, of: MapOf, token: int) -> None:
    """Draw both directions of a token, over the layers whose maps are available."""
    order = view.store.layer_order
    every = {
        layer: shares_of(view, subject, of.in_layer(order, layer)) for layer in view.store.layers
    }
    maps = {
        layer: shares
        for layer, shares in every.items()
        if shares is not None and token < len(shares)
    }
    if not maps:
        return view.nothing("no_layers")
    name = plain(subject.names[token])
    frames = {side: layer_shares(subject.names, maps, token, side) for side in _SIDES}
    view.finding(_finding(view, frames["takes"], name))
    for place, side in zip(view.columns(2), _SIDES, strict=True):
        with place:
            frame = frames[side]
            view.figure(side, frame, _chart(frame), state=(subject.key, of.key, token), token=name)


def layer_shares(
    names: list[str], maps: dict[int, np.ndarray], token: int, side: str
) -> pd.DataFrame:
    """Shares between a token and every other in each layer.

    Args:
        maps: queries by keys of each layer.
        side: `takes` or `gives`.

    Returns:
        layer, pos, token, share; without the token itself.
    """
    parts = [
        pd.DataFrame(
            {
                "layer": layer,
                "pos": range(len(shares)),
                "token": names[: len(shares)],
                "share": shares[token] if side == "takes" else shares[:, token],
            }
        )
        for layer, shares in maps.items()
    ]
    frame = pd.concat(parts, ignore_index=True)
    return frame[frame["pos"] != token].reset_index(drop=True)


def strongest(frame: pd.DataFrame) -> list[str]:
    """Tokens with the largest share in any layer, the largest first."""
    peaks = frame.groupby("token", sort=False)["share"].max()
    return peaks.nlargest(_NAMED).index.tolist()


def _finding(view: View, frame: pd.DataFrame, name: str) -> str:
    if frame.empty:
        return ""
    peak = frame.iloc[int(frame["share"].argmax())]
    total = frame.groupby("layer")["share"].sum()
    return view.say(
        "finding_token",
        token=name,
        source=plain(peak["token"]),
        share=percent(float(peak["share"])),
        layer=int(peak["layer"]),
        least=percent(float(total.min())),
        least_layer=int(total.index[int(total.argmin())]),
        most=percent(float(total.max())),
        most_layer=int(total.index[int(total.argmax())]),
    )


def _chart(frame: pd.DataFrame) -> Any:
    """Draw a line per token over the layers; the strongest have their names at their peaks."""
    named = strongest(frame)
    shown = frame.assign(named=frame["token"].isin(named))
    colours = alt.Scale(domain=named, range=list(SERIES_COLOURS[: len(named)]))
    base = Chart(shown).encode(
        x=alt.X(
            "layer:Q",
            title=title("layer"),
            scale=alt.Scale(zero=False, nice=False),
            axis=alt.Axis(tickMinStep=1, format="d"),
        ),
        y=alt.Y("share:Q", title=title("share"), axis=alt.Axis(format="~%")),
        detail=alt.Detail("pos:N"),
        tooltip=tooltips(dict.fromkeys(("token", "layer", "share")), shown, ".2%"),
    )
    faint = base.transform_filter("!datum.named").mark_line(
        color=NEUTRAL, opacity=0.25, strokeWidth=1
    )
    strong = base.transform_filter("datum.named").encode(
        color=alt.Color("token:N", scale=colours, legend=None)
    )
    labels = (
        Chart(_labels(shown))
        .mark_text(dy=-9, fontSize=12, fontWeight=600, align=alt.ExprRef("datum.align"))
        .encode(
            x=alt.X("layer:Q"),
            y=alt.Y("place:Q"),
            text=alt.Text("token:N"),
            color=alt.Color("token:N", scale=colours, legend=None),
        )
    )
    return layered(faint, strong.mark_line(point={"size": 30}), labels, height=_HEIGHT)


def _labels(shown: pd.DataFrame) -> pd.DataFrame:
    """Draw the names of the strongest tokens at their peaks, without overlap within a layer."""
    peaks = shown[shown["named"]].sort_values("share").groupby("token", sort=False).tail(1)
    gap, heights = _LABEL / _HEIGHT * float(shown["share"].max()), []
    highest: dict[int, float] = {}
    for layer, share in zip(peaks["layer"].tolist(), peaks["share"].tolist(), strict=True):
        highest[layer] = max(share, highest.get(layer, -gap) + gap)
        heights.append(highest[layer])
    sides = {shown["layer"].min(): "left", shown["layer"].max(): "right"}
    align = peaks["layer"].map(lambda layer: sides.get(layer, "center"))
    return peaks.assign(place=heights, align=align)
