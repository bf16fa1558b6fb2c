"""Table of pairs by layer, each cell a link to the pair's section.

Tokens come from arbitrary texts: all markup is escaped here.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import altair as alt
import pandas as pd

from pages.token_pairs.lists import PLACES
from pages.ui.charts.chart_theme import Chart, layered
from pages.ui.charts.colours import AMPLIFIED, ATTENUATED, RELATION_COLOURS
from pages.ui.words.columns import title
from pages.ui.words.interval import interval, is_clear
from pages.ui.words.names import relation_name
from pages.ui.words.numbers import count, points
from pages.ui.words.scope import say_here

_STRONGEST = 0x80  # of 0xff, how strong the ground of a cell may be
_NONE = '<td class="tp-none">–</td>'
STYLE = """<style>
.tp-scroll {overflow-x: auto; max-width: 100%}
.tp-grid {border-collapse: separate; border-spacing: 2px; font-size: .78rem; line-height: 1.25}
.tp-grid caption {text-align: left; font-weight: 600; font-size: .9rem; padding: .3rem 0}
.tp-grid th {font-weight: 600; padding: 0 .4rem; text-align: left; opacity: .75}
.tp-grid td {padding: 0; min-width: 4.6rem; max-width: 9rem; vertical-align: top;
  border-radius: 3px; border-left: 4px solid transparent}
.tp-grid td a {display: block; padding: .18rem .35rem; color: inherit; text-decoration: none;
  overflow-wrap: anywhere}
.tp-grid td a:hover, .tp-grid td a:focus {outline: 2px solid currentcolor; border-radius: 3px}
.tp-grid bdi {font-weight: 600}
.tp-grid small {display: block; opacity: .85; font-variant-numeric: tabular-nums}
.tp-grid td.tp-faint {opacity: .4}
.tp-grid td.tp-none {opacity: .75; padding: .18rem .35rem}
.tp-key {display: flex; flex-wrap: wrap; gap: .15rem 1rem; font-size: .82rem; padding: .2rem 0}
.tp-key span {border-left: 4px solid; padding-left: .4rem}
.tp-key span.tp-faint {opacity: .55; border-color: transparent}
</style>"""
_CELL, _AROUND, _BESIDE = (82, 46), 110, 90  # pixels; of title, axis and legend; of the layers
_BAR = 4  # pixels
_FAINT, _FAINT_WORDS = 0.4, 0.7


def key(frame: pd.DataFrame) -> str:
    """Markup of the legend: colours of relations, and faint cells for changes not clear of 0."""
    spans = [
        f'<span style="border-color: {colour}">{escape(name)}</span>'
        for name, colour in _relations(frame).items()
    ]
    if not is_clear(frame["low"], frame["high"]).all():
        spans.append(f'<span class="tp-faint">{escape(say_here("faint"))}</span>')
    return f'<div class="tp-key">{"".join(spans)}</div>'


def _relations(frame: pd.DataFrame) -> dict[str, str]:
    """Colours of the relations present, by display name."""
    there = set(frame["relation"])
    return {
        relation_name(name): RELATION_COLOURS[name] for name in RELATION_COLOURS if name in there
    }


def grid(
    frame: pd.DataFrame,
    name: str,
    *,
    layers: Sequence[int],
    top: float,
    address: Callable[[Any], str],
) -> str:
    """Markup with one row of pairs per layer; the shade grows with the square root of a change.

    Args:
        frame: rows of `pair_delta.top`.
        name: title of the grid.
        top: change with the strongest shade; shared by the grids that are compared.
        address: link to a pair's own section.
    """
    cells: dict[Any, list[str]] = {layer: [] for layer in layers}
    for pair in frame.assign(clear=is_clear(frame["low"], frame["high"])).itertuples():
        cells[pair.layer].append(_cell(pair, top, address(pair)))
    return rows_of_layers(name, range(1, PLACES + 1), cells)


def rows_of_layers(
    name: str, heads: Sequence[object], cells: Mapping[int, list[str]], *, kind: str = ""
) -> str:
    """Markup of a table with a row of cells per layer; unused places stay empty."""
    head = "".join(
        f'<th scope="col">{escape(str(heading))}</th>' for heading in (title("layer"), *heads)
    )
    body = "".join(
        f'<tr><th scope="row">{layer}</th>{"".join(row)}{_NONE * (len(heads) - len(row))}</tr>'
        for layer, row in cells.items()
    )
    return (
        f'<div class="tp-scroll"><table class="tp-grid {kind}"><caption>{escape(name)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def arrow(source: str, target: str) -> str:
    """Markup of a pair."""
    return f"<bdi>{escape(source)}</bdi> → <bdi>{escape(target)}</bdi>"


def _cell(pair: Any, top: float, address: str) -> str:
    return (
        f'<td class="{"" if pair.clear else "tp-faint"}" '
        f'style="background: {ground(pair.mean_delta, top)}; '
        f'border-left-color: {RELATION_COLOURS[pair.relation]}">'
        f'<a href="{escape(address)}" target="_self" title="{escape(_exact(pair))}">'
        f"{arrow(pair.source, pair.target)}"
        f"<small>{points(pair.mean_delta)} · n {count(pair.n)}</small></a></td>"
    )


def ground(change: float, top: float) -> str:
    """Colour of a change; its strength is the square root of the ratio to the largest, `top`."""
    share = min(abs(change) / top, 1.0) if top > 0 else 0.0
    ink = AMPLIFIED if change > 0 else ATTENUATED
    return f"{ink}{round(_STRONGEST * share**0.5):02x}"


def _exact(pair: Any) -> str:
    """Exact values of one pair, for its tooltip."""
    return say_here(
        "exact",
        source=pair.source,
        target=pair.target,
        delta=points(pair.mean_delta),
        interval=interval(pair.low, pair.high, points),
        n=count(pair.n),
        n_sequences=count(pair.n_sequences),
        relation=relation_name(pair.relation),
    )


def picture(lists: dict[str, pd.DataFrame], *, layers: Sequence[int], top: float) -> Any:
    """Picture of several grids, one below the other, on one scale.

    Args:
        lists: rows of `pair_delta.top` by the title of their grid.
        top: the change with the strongest ground.
    """
    width, height = _CELL[0] * PLACES, _CELL[1] * len(layers)
    grids = [_grid(frame, name, layers, top) for name, frame in lists.items()]
    if len(grids) > 1:
        return alt.vconcat(*(part.properties(width=width, height=height) for part in grids))
    return grids[0].properties(height=height + _AROUND, usermeta={"least_width": width + _BESIDE})


def _grid(frame: pd.DataFrame, name: str, layers: Sequence[int], top: float) -> Any:
    drawn = frame[["layer", "place"]].assign(
        ground=[ground(delta, top) for delta in frame["mean_delta"]],
        relation=frame["relation"].map(relation_name),
        visible=is_clear(frame["low"], frame["high"]).map({True: 1.0, False: _FAINT}),
        lines=frame.apply(_lines, axis="columns"),
    )
    drawn["legible"] = drawn["visible"].clip(_FAINT_WORDS)
    relations = _relations(frame)
    colours = alt.Scale(domain=list(relations), range=list(relations.values()))
    places = alt.Scale(domain=[*range(1, PLACES + 1)], paddingInner=0.04, paddingOuter=0.02)
    base = Chart(drawn).encode(
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
        align="left",
        baseline="middle",
        dx=_BAR + 2,
        dy=-13,
        fontSize=11,
        limit=alt.ExprRef(f"width / {PLACES} - {_BAR + 8}"),
        lineBreak="\n",
    ).encode(
        x=alt.X("place:O", scale=places, bandPosition=0),
        text=alt.Text("lines:N"),
        opacity=alt.Opacity("legible:Q", scale=None),
    )
    return layered(cells, bars, words, title=name)


def _lines(pair: Any) -> str:
    lines = f"{pair.source} →", pair.target, f"{points(pair.mean_delta)} · n {count(pair.n)}"
    return "\n".join(" ".join(line.split()) for line in lines)
