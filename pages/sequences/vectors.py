"""Vectors that a head adds up for one token: f(x), α f(x) and their sum (Kobayashi et al. 2020).

Three tokens are drawn: those with the most weight α, the longest α f(x) and the longest f(x).
"""

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.statistics.corpus import SEQUENCES, TOKENS
from pages.sequences.subject import pick_subject
from pages.ui.charts.chart_theme import Chart, layered, tooltips
from pages.ui.charts.colours import NEUTRAL, SERIES_COLOURS
from pages.ui.charts.encodings import named
from pages.ui.head.choice import head_name
from pages.ui.head.picker import every_head, pick_head
from pages.ui.live import readings
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import percent
from pages.ui.words.say import plain
from pages.ui.words.scope import say_here

_DRAWN = 3  # tokens
_SIDE, _ROW = 270, 28  # pixels: of a plane; of a row of bars
_LENGTHS = ("attention", "value_norm", "weighted_norm")
_WIDE = 170  # pixels of bars
_ROOM = 1.25  # of the longest arrow, so that its name has room


@dataclass(frozen=True)
class Parts:
    """Vectors that one head adds up for one query.

    Attributes:
        names: of all tokens.
        weights: α of every token.
        vectors: f(x) of every token.
    """

    names: list[str]
    weights: np.ndarray
    vectors: np.ndarray

    @property
    def lengths(self) -> pd.DataFrame:
        """α, ‖f(x)‖ and ‖αf(x)‖ of every token."""
        value_norm = np.linalg.norm(self.vectors, axis=1)
        columns = (self.weights, value_norm, self.weights * value_norm)
        return pd.DataFrame(dict(zip(_LENGTHS, columns, strict=True)))

    @property
    def chosen(self) -> list[int]:
        """Tokens with the largest α, ‖αf(x)‖ and ‖f(x)‖; equal ones are replaced by the next α.

        Only tokens that have a weight count.
        """
        weighty = np.flatnonzero(self.weights > 0)
        lengths = self.lengths.loc[weighty, ["attention", "weighted_norm", "value_norm"]].to_numpy()
        by_weight = np.argsort(-lengths[:, 0], kind="stable")
        best = weighty[[*lengths.argmax(axis=0), *by_weight]].tolist()
        return list(dict.fromkeys(best))[:_DRAWN]

    @property
    def weighted(self) -> np.ndarray:
        return self.weights[:, None] * self.vectors

    @property
    def arrows(self) -> tuple[pd.DataFrame, float]:
        """Arrows in one plane, and the share of their squared length that lies in it.

        The plane fits the directions of the drawn f(x), of the rest and of the sum best: each
        counts as much as any other. Every arrow has its share in the plane.

        Returns:
            panel, name, x, y, length, in_plane.
        """
        chosen, weighted = self.chosen, self.weighted
        total, rest = weighted.sum(axis=0), np.delete(weighted, chosen, axis=0).sum(axis=0)
        whole = [("sum", total)] if np.linalg.norm(rest) == 0 else [("rest", rest), ("sum", total)]
        drawn = [("before", self.names[at], self.vectors[at]) for at in chosen]
        drawn += [("after", self.names[at], weighted[at]) for at in chosen]
        drawn += [("after", say_here(name), vector) for name, vector in whole]
        fitted = np.array([vector for panel, name, vector in drawn if panel == "before"])
        fitted = np.array([*fitted, *(vector for _, vector in whole)], dtype=float)
        norms = np.linalg.norm(fitted, axis=1, keepdims=True)
        directions = fitted / np.where(norms > 0, norms, 1.0)
        _, values, axes = np.linalg.svd(directions, full_matrices=False)
        plane = axes[:2] if len(axes) > 1 else np.vstack([axes, np.zeros_like(axes)])
        share = float((values[:2] ** 2).sum() / max((values**2).sum(), np.finfo(float).tiny))
        frame = pd.DataFrame(
            {
                "panel": panel,
                "name": name,
                "x": float(plane[0] @ vector),
                "y": float(plane[1] @ vector),
                "length": float(np.linalg.norm(vector)),
            }
            for panel, name, vector in drawn
        )
        seen = np.hypot(frame["x"], frame["y"])
        return frame.assign(
            in_plane=(seen / frame["length"].where(frame["length"] > 0)) ** 2
        ), share

    @property
    def bars(self) -> pd.DataFrame:
        """A row per drawn token, one for the rest and one for the sum: name and lengths."""
        chosen, weighted, lengths = self.chosen, self.weighted, self.lengths
        rest = np.delete(weighted, chosen, axis=0).sum(axis=0)
        rows = lengths.loc[chosen].assign(name=[self.names[at] for at in chosen])
        of_all = pd.DataFrame(
            {
                "name": [say_here("rest"), say_here("sum")],
                "attention": [self.weights.sum() - rows["attention"].sum(), self.weights.sum()],
                "value_norm": np.nan,
                "weighted_norm": [
                    np.linalg.norm(rest),
                    np.linalg.norm(weighted.sum(axis=0)),
                ],
            }
        )
        return pd.concat([rows, of_all], ignore_index=True)[["name", *_LENGTHS]]


@section("vectors", also=(SEQUENCES, TOKENS))
def vectors(view: View) -> None:
    subject = pick_subject(view)
    layer, head = pick_head(view, default=every_head(view.store)[0])
    names = subject.names
    labels = dict(enumerate(names))
    query = view.pick("query", labels, default=min(len(names) - 1, 1), kind="select")
    if subject.reading is None:
        view.end("no_vectors")
    made = readings.head_vectors(view.store, subject.reading, layer=layer, head=head, query=query)
    parts = Parts(names, made.weights, made.vectors)
    arrows, share = parts.arrows
    view.finding(_finding(view, parts, query))
    of: dict[str, Any] = {"head": head_name(layer, head), "query": plain(names[query])}
    state = (subject.key, layer, head, query)
    bars, colours = parts.bars, _colours(parts)
    charts: dict[str, tuple[pd.DataFrame, Any]] = {
        "arrows": (arrows, _planes(arrows, colours)),
        "bars": (bars, _bars(bars, colours)),
    }
    for name, (frame, chart) in charts.items():
        caption = view.say(f"{name}_caption", share=percent(share))
        view.figure(name, frame, chart, state=state, width="content", caption=caption, **of)


def _finding(view: View, parts: Parts, query: int) -> str:
    """Compare the token with most weight with the one that brings the longest vector."""
    lengths, bars = parts.lengths, parts.bars
    weights, norms = (lengths[name].to_numpy() for name in ("attention", "weighted_norm"))
    most, longest, together = int(weights.argmax()), int(norms.argmax()), float(norms.sum())
    of_norms = norms / (together or np.nan)
    return view.say(
        "finding_same" if most == longest else "finding",
        query=plain(parts.names[query]),
        most=plain(parts.names[most]),
        weight=percent(float(weights[most])),
        of_most=percent(float(of_norms[most])),
        longest=plain(parts.names[longest]),
        weight_longest=percent(float(weights[longest])),
        of_longest=percent(float(of_norms[longest])),
        sum=f"{bars['weighted_norm'].iloc[-1]:.3g}",
        together=f"{together:.3g}",
    )


def _colours(parts: Parts) -> dict[str, str]:
    """Colours of the drawn tokens, of the rest and of the sum, in the order of the legend."""
    names = [*(parts.names[at] for at in parts.chosen), say_here("rest"), say_here("sum")]
    return dict(zip(names, (*SERIES_COLOURS[:_DRAWN], NEUTRAL, SERIES_COLOURS[3]), strict=False))


def _planes(arrows: pd.DataFrame, colours: dict[str, str]) -> Any:
    """Draw f(x) and α f(x) as arrows from 0, each panel on a scale of its own."""
    panels = [_plane(part, colours) for _, part in arrows.groupby("panel", sort=False)]
    return alt.hconcat(*panels, spacing=40).resolve_scale(x="independent", y="independent")


def _plane(arrows: pd.DataFrame, colours: dict[str, str]) -> Any:
    panel = str(arrows["panel"].iloc[0])
    reach = _ROOM * max(float(arrows[["x", "y"]].abs().to_numpy().max()), 1e-9)
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    axis = alt.Axis(tickCount=3, format=".2~g", grid=True)
    of_x, of_y = ({"scale": scale, "axis": axis, "title": say_here(f"axis_{n}")} for n in "xy")
    angle = np.degrees(np.arctan2(arrows["x"], arrows["y"]))
    shown = arrows.assign(angle=angle)
    columns = dict.fromkeys(("name", "length", "in_plane"))
    base = Chart(shown).encode(
        color=named("name", colours, title=None, symbolType="stroke"),
        tooltip=tooltips({name: title(name) for name in columns}, shown, ".3~g"),
    )
    lines = base.mark_rule(strokeWidth=2.5).encode(
        x=alt.X("x:Q", **of_x),
        y=alt.Y("y:Q", **of_y),
        x2=alt.X2Value(_SIDE / 2),
        y2=alt.Y2Value(_SIDE / 2),
    )
    tips = base.mark_point(shape="triangle-up", filled=True, size=90, opacity=1).encode(
        x=alt.X("x:Q", **of_x), y=alt.Y("y:Q", **of_y), angle=alt.Angle("angle:Q", scale=None)
    )
    heading = say_here(f"panel_{panel}")
    return layered(lines, tips, title=heading, width=_SIDE, height=_SIDE)


def _bars(bars: pd.DataFrame, colours: dict[str, str]) -> Any:
    """Draw α, ‖f(x)‖ and ‖αf(x)‖ side by side, exactly, with their numbers."""
    order = list(bars["name"])
    panels = []
    for place, name in enumerate(_LENGTHS):
        shown = bars.dropna(subset=name)
        y = alt.Y(
            "name:N",
            title=None,
            sort=order,
            scale=alt.Scale(domain=order),
            axis=alt.Axis(labelLimit=150) if place == 0 else None,
        )
        base = Chart(shown).encode(y=y)
        most = float(shown[name].max()) * 1.4 or 1.0
        scale = alt.Scale(domain=[0, most], nice=False)
        format = ".1%" if name == "attention" else ".3~g"
        x = alt.X(
            f"{name}:Q",
            title=title(name),
            scale=scale,
            axis=alt.Axis(tickCount=2, format=".0%" if name == "attention" else ".2~g"),
        )
        colour = alt.Color(
            "name:N",
            scale=alt.Scale(domain=list(colours), range=list(colours.values())),
            legend=None,
        )
        marks = base.mark_bar(size=16, tooltip=False).encode(x=x, color=colour)
        numbers = base.mark_text(align="left", dx=4, fontSize=12, tooltip=False).encode(
            x=x, text=alt.Text(f"{name}:Q", format=format)
        )
        panels.append(layered(marks, numbers, width=_WIDE, height=_ROW * len(order)))
    return alt.hconcat(*panels, spacing=14)
