"""What stands around maps: the picture under them, the mask's outline, titles, bars, a frame."""

from collections.abc import Iterator, Sequence

import altair as alt
import pandas as pd

from pages.relevance.map_layout import BAR, GAP, TITLE_RISE, MapLayout, Panel
from pages.ui.charts.colours import TOKEN_TYPE_COLOURS
from pages.ui.charts.image_ground import CLASS_TOKENS, ImageGround
from pages.ui.words.say import say

_RING = "#ff5a36"
_GROUND = "#808080"


def pictures(layout: MapLayout) -> Iterator[alt.Chart]:
    """The picture in greys under every map."""
    address = layout.ground.address(grey=True)
    if address is not None:
        yield _picture(layout, address, layout.corners())


def first_picture(layout: MapLayout, *, ink: str) -> Iterator[alt.Chart]:
    """The picture itself before all maps."""
    address = layout.ground.address()
    if address is not None:
        corner, told = layout.first_corner(), say("relevance.picture")
        yield _picture(layout, address, corner)
        title = pd.DataFrame(
            {
                "x": corner["left"],
                "y": corner["top"] - TITLE_RISE,
                "title": told,
            }
        )
        yield _text(title, "title", 13, ink=ink, layout=layout)


def _picture(layout: MapLayout, address: str, corners: pd.DataFrame) -> alt.Chart:
    frame = pd.DataFrame(
        {"x": corners["left"] + layout.side / 2, "y": corners["top"] + layout.tall / 2}
    )
    return alt.Chart(frame).mark_image(
        url=address,
        width=layout.side,
        height=layout.tall,
        aspect=False,
        tooltip=False,
        aria=False,
    )


def _text(
    frame: pd.DataFrame, field: str, size: float, *, ink: str, layout: MapLayout, bold: bool = False
) -> alt.Chart:
    return (
        alt.Chart(frame)
        .mark_text(
            align="left",
            baseline="middle",
            color=ink,
            fontSize=size,
            fontWeight="bold" if bold else "normal",
            limit=layout.side + GAP,
            tooltip=False,
        )
        .encode(text=f"{field}:N")
    )


def outlines(layout: MapLayout) -> Iterator[alt.Chart]:
    """The mask's outline, dark in light, so that it is seen on every colour."""
    edges = layout.outline()
    if len(edges):
        for colour, width in (("#101010", 3.2), ("#ffffff", 1.4)):
            rules = alt.Chart(edges).mark_rule(
                color=colour, strokeWidth=width, strokeCap="square", tooltip=False, aria=False
            )
            yield rules.encode(x2="x2:Q", y2="y2:Q")


def ring(panels: Sequence[Panel], layout: MapLayout, marked: str | None) -> Iterator[alt.Chart]:
    """A frame around one map."""
    names = [each.name for each in panels]
    if marked in names:
        corner = layout.corners().iloc[[names.index(marked)]]
        frame = pd.DataFrame(
            {
                "x": corner["left"] - 1,
                "x2": corner["left"] + layout.side + 1,
                "y": corner["top"] - 1,
                "y2": corner["top"] + layout.tall + 1,
            }
        )
        drawn = alt.Chart(frame).mark_rect(
            filled=False, stroke=_RING, strokeWidth=2.5, tooltip=False, aria=False
        )
        yield drawn.encode(x2="x2:Q", y2="y2:Q")


def words(
    panels: Sequence[Panel], layout: MapLayout, *, marked: str | None, ink: str
) -> Iterator[alt.Chart]:
    """Titles above the maps; bars of the shares on special tokens below, with their numbers."""
    titles = layout.titles().assign(title=[each.title for each in panels])
    is_marked = pd.Series([each.name == marked for each in panels])
    for bold, shown in ((False, titles[~is_marked]), (True, titles[is_marked])):
        if len(shown):
            yield _text(shown, "title", 13, ink=ink, layout=layout, bold=bold)
    if layout.ground.special:
        yield _bars(panels, layout)
        feet = layout.feet()
        shares = pd.DataFrame({"x": feet["x"], "y": feet["below"]}).assign(
            shares=[told_shares(layout.ground, each.relevance) for each in panels]
        )
        yield _text(shares, "shares", 11.5, ink=ink, layout=layout)


def told_shares(ground: ImageGround, relevance: Sequence[float]) -> str:
    """How much of a map lies on [CLS], and on the other special tokens where there are such."""
    parts = []
    if ground.class_tokens:
        name = ground.class_tokens.replace("[", "").replace("]", "")
        parts.append((name, ground.share(relevance, CLASS_TOKENS)))
    if others := ground.other_special:
        parts.append((say("relevance.on_special"), ground.share(relevance, others)))
    digits = 0 if len(parts) > 1 else 1
    return " · ".join(f"{name} {value:.{digits}%}" for name, value in parts)


def _bars(panels: Sequence[Panel], layout: MapLayout) -> alt.Chart:
    """The whole of the relevance as a bar: what is on [CLS], other special tokens, patches."""
    ground = layout.ground
    rows = []
    for panel, foot in zip(panels, layout.feet().to_dict("records"), strict=True):
        start = foot["x"]
        on_cls = ground.share(panel.relevance, CLASS_TOKENS)
        others = ground.share(panel.relevance, ground.other_special)
        parts = {"cls": on_cls, "register": others, "other": max(1 - on_cls - others, 0.0)}
        for kind, share in parts.items():
            end = min(start + share * layout.side, foot["x"] + layout.side)
            rows.append({"x": start, "x2": end, "y": foot["y"], "kind": kind, "share": share})
            start = end
    names = {kind: say(f"relevance.bar_{kind}") for kind in ("register", "other")}
    names["cls"] = ground.class_tokens
    colours = {"cls": TOKEN_TYPE_COLOURS["cls"], "register": TOKEN_TYPE_COLOURS["register"]}
    frame = pd.DataFrame(rows)
    frame["colour"] = frame["kind"].map(colours | {"other": _GROUND})
    frame["name"] = frame["kind"].map(names)
    return (
        alt.Chart(frame)
        .mark_bar(size=BAR, aria=False)
        .encode(
            x2="x2:Q",
            color=alt.Color("colour:N", scale=None),
            tooltip=[
                alt.Tooltip("name:N", title=say("relevance.bar")),
                alt.Tooltip("share:Q", title=say("relevance.share"), format=".1%"),
            ],
        )
    )
