"""The grid of pairs as a picture for paper: what its markup shows, drawn by Vega."""

from typing import Any

import altair as alt
import pandas as pd

from pages.token_pairs.grid import ground
from pages.token_pairs.lists import PLACES, is_clear
from pages.ui.charts.colours import RELATION_COLOURS
from pages.ui.words.columns import title
from pages.ui.words.names import relation_name
from pages.ui.words.numbers import count, points

_CELL = (82, 42)  # pixels
_BAR = 4  # pixels
_FAINT = 0.4


def picture(lists: dict[str, pd.DataFrame], *, layers: range, top: float) -> Any:
    """The grids of a few lists one below the other, on one scale.

    Args:
        lists: rows of `pair_delta.top` by the title of their grid.
        top: the change with the strongest ground.
    """
    grids = [_grid(frame, name, layers, top) for name, frame in lists.items()]
    return alt.vconcat(*grids) if len(grids) > 1 else grids[0]


def _grid(frame: pd.DataFrame, name: str, layers: range, top: float) -> Any:
    drawn = pd.DataFrame(
        {
            "layer": frame["layer"],
            "place": frame["place"],
            "ground": [ground(each, top) for each in frame["mean_delta"]],
            "relation": frame["relation"].map(relation_name),
            "visible": is_clear(frame).map({True: 1.0, False: _FAINT}),
            "lines": [_lines(each) for each in frame.itertuples()],
        }
    )
    there = [each for each in RELATION_COLOURS if each in set(frame["relation"])]
    colours = alt.Scale(
        domain=[relation_name(each) for each in there],
        range=[RELATION_COLOURS[each] for each in there],
    )
    places = alt.Scale(domain=[*range(1, PLACES + 1)], paddingInner=0.04, paddingOuter=0.02)
    base = alt.Chart(drawn).encode(
        x=alt.X("place:O", title=None, scale=places, axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y(
            "layer:O",
            title=title("layer"),
            scale=alt.Scale(domain=[*layers], paddingInner=0.06, paddingOuter=0.03),
        ),
        opacity=alt.Opacity("visible:Q", scale=None),
    )
    cells = base.mark_rect().encode(color=alt.Color("ground:N", scale=None))
    bars = base.mark_bar(width=_BAR, align="left").encode(
        x=alt.X("place:O", scale=places, bandPosition=0),
        fill=alt.Fill(
            "relation:N", scale=colours, title=None, legend=alt.Legend(orient="bottom", columns=6)
        ),
    )
    words = base.mark_text(
        align="left", baseline="middle", dx=_BAR + 2, dy=-11, fontSize=10, limit=_CELL[0] - 8
    ).encode(x=alt.X("place:O", scale=places, bandPosition=0), text="lines:N")
    return alt.layer(cells, bars, words).properties(
        title=name, width=_CELL[0] * PLACES, height=_CELL[1] * len(layers)
    )


def _lines(pair: Any) -> list[str]:
    return [f"{pair.source} →", pair.target, f"{points(pair.mean_delta)} · n {count(pair.n)}"]
