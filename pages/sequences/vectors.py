"""Vectors that a head adds up for one token: f(x), α f(x) and their sum (Kobayashi et al. 2020).

Three tokens are drawn: those with the most weight α, the longest α f(x) and the longest f(x).
"""

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.kit.section import Choices, of_head
from pages.ui.charts.chart_theme import Chart, layered, tooltips
from pages.ui.charts.colours import NEUTRAL, SERIES_COLOURS
from pages.ui.charts.encodings import named
from pages.ui.head.picker import every_head, pick_head
from pages.ui.live.live_model import run_on
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.scope import say_here

_DRAWN = 3  # tokens
_SIDE, _ROW, _WIDE = 270, 28, 170  # pixels: of a plane; of a row of bars; of bars
_LENGTHS = ("attention", "value_norm", "weighted_norm")
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
    def drawn(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """α f(x) of all tokens, of those not drawn together, and their sum."""
        weighted = self.weights[:, None] * self.vectors
        rest = np.delete(weighted, self.chosen, axis=0).sum(axis=0)
        return weighted, rest, weighted.sum(axis=0)

    @property
    def arrows(self) -> pd.DataFrame:
        """Arrows in one plane.

        The plane fits the directions of the drawn f(x), of the rest and of the sum best: each
        counts as much as any other. `in_plane` is the share of an arrow's squared length in the
        plane, `of_all` that of all these directions.

        Returns:
            panel, name, x, y, length, in_plane, of_all.
        """
        weighted, rest, total = self.drawn
        whole = [("sum", total)] if np.linalg.norm(rest) == 0 else [("rest", rest), ("sum", total)]
        rows = [("before", self.names[at], self.vectors[at]) for at in self.chosen]
        rows += [("after", self.names[at], weighted[at]) for at in self.chosen]
        rows += [("after", say_here(name), vector) for name, vector in whole]
        fitted = np.array([vector for panel, _, vector in rows if panel == "before"], dtype=float)
        fitted = np.array([*fitted, *(vector for _, vector in whole)], dtype=float)
        norms = np.linalg.norm(fitted, axis=1, keepdims=True)
        _, values, axes = np.linalg.svd(fitted / np.where(norms > 0, norms, 1), full_matrices=False)
        plane = axes[:2] if len(axes) > 1 else np.vstack([axes, np.zeros_like(axes)])
        vectors = np.array([vector for *_, vector in rows], dtype=float)
        places, length = vectors @ plane.T, np.linalg.norm(vectors, axis=1)
        frame = pd.DataFrame(rows, columns=["panel", "name", "vector"]).drop(columns="vector")
        frame = frame.assign(x=places[:, 0], y=places[:, 1], length=length)
        seen = np.hypot(frame["x"], frame["y"]) / frame["length"].where(frame["length"] > 0)
        of_all = (values[:2] ** 2).sum() / max((values**2).sum(), np.finfo(float).tiny)
        return frame.assign(in_plane=seen**2, of_all=float(of_all))

    @property
    def bars(self) -> pd.DataFrame:
        """A row per drawn token, one for the rest and one for the sum: name and lengths."""
        _, rest, total = self.drawn
        rows = self.lengths.loc[self.chosen]
        others = self.weights.sum() - rows["attention"].sum()
        rows = rows.assign(name=[self.names[at] for at in self.chosen])
        of_all = pd.DataFrame(
            {
                "name": [say_here("rest"), say_here("sum")],
                "attention": [others, self.weights.sum()],
                "value_norm": np.nan,
                "weighted_norm": [np.linalg.norm(rest), np.linalg.norm(total)],
            }
        )
        return pd.concat([rows, of_all], ignore_index=True)[["name", *_LENGTHS]]


def pick_query(view: View, choices: Choices) -> dict[str, Any]:
    """Let the reader pick a head and the token that attends; end if the model cannot be run."""
    subject = choices["subject"]
    layer, head = pick_head(view, default=every_head(view.store)[0])
    labels = dict(enumerate(subject.names))
    query = view.pick("query", labels, default=min(len(labels) - 1, 1), kind="select")
    if subject.reading is None:
        view.end("no_vectors")
    return {"layer": layer, "head": head, "query": query}


def parts_of(inquiry: Inquiry, choices: Choices) -> Parts:
    of = {**of_head(choices), "query": choices["query"]}
    made = run_on(inquiry.store, "head_vectors", choices["subject"].reading, **of)
    return Parts(choices["subject"].names, made.weights, made.vectors)


def arrows(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    return parts_of(inquiry, choices).arrows


def bars(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    return parts_of(inquiry, choices).bars


def found(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding: the weight of a token against its part of the lengths; and the sum."""
    parts = parts_of(inquiry, choices)
    lengths, total = parts.lengths, float(np.linalg.norm(parts.drawn[2]))
    together, most = float(lengths["weighted_norm"].sum()), int(lengths["attention"].argmax())
    longest = int(lengths["weighted_norm"].argmax())
    rows = [
        (1, "weight", lengths["attention"][most], ".1%"),
        (1, "length", lengths["weighted_norm"][most] / (together or np.nan), ".1%"),
        (2, "sum", total, ".2f"),
        (2, "together", together, ".2f"),
    ]
    frame = pd.DataFrame(rows, columns=["sentence", "name", "value", "format"])
    names = {"query": choices["query"], "token": most, "longest": longest}
    of = {name: parts.names[at] for name, at in names.items()}
    return frame.assign(low=frame["value"], high=frame["value"], **of, **of_head(choices))


def _colours(names: list[str]) -> dict[str, str]:
    """Colours of the drawn tokens, of the rest and of the sum, in the order of the legend."""
    ends = {say_here("rest"): NEUTRAL, say_here("sum"): SERIES_COLOURS[_DRAWN]}
    tokens = [name for name in dict.fromkeys(names) if name not in ends]
    return dict(zip(tokens, SERIES_COLOURS, strict=False)) | {
        name: ends[name] for name in ends if name in names
    }


def draw_arrows(frame: pd.DataFrame, *_: Any) -> Any:
    """Draw f(x) and α f(x) as arrows from 0, each panel on a scale of its own."""
    colours = _colours(frame["name"].tolist())
    planes = [_plane(part, colours) for _, part in frame.groupby("panel", sort=False)]
    return alt.hconcat(*planes, spacing=40).resolve_scale(x="independent", y="independent")


def _plane(frame: pd.DataFrame, colours: dict[str, str]) -> Any:
    reach = _ROOM * max(float(frame[["x", "y"]].abs().to_numpy().max()), 1e-9)
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    axis = alt.Axis(tickCount=3, format=".2~g", grid=True)
    of_x, of_y = ({"scale": scale, "axis": axis, "title": say_here(f"axis_{n}")} for n in "xy")
    shown = frame.assign(angle=np.degrees(np.arctan2(frame["x"], frame["y"])))
    columns = ("name", "length", "in_plane")
    base = Chart(shown).encode(
        x=alt.X("x:Q", **of_x),
        y=alt.Y("y:Q", **of_y),
        color=named("name", colours, title=None, symbolType="stroke"),
        tooltip=tooltips({name: title(name) for name in columns}, shown, ".3~g"),
    )
    middle = {"x2": alt.X2Value(_SIDE / 2), "y2": alt.Y2Value(_SIDE / 2)}
    rules = base.mark_rule(strokeWidth=2.5).encode(**middle)
    tips = base.mark_point(shape="triangle-up", filled=True, size=90, opacity=1)
    tips = tips.encode(angle=alt.Angle("angle:Q", scale=None))
    heading = say_here(f"panel_{frame['panel'].iloc[0]}")
    return layered(rules, tips, title=heading, width=_SIDE, height=_SIDE)


def draw_bars(frame: pd.DataFrame, *_: Any) -> Any:
    """Draw α, ‖f(x)‖ and ‖αf(x)‖ side by side, exactly, with their numbers."""
    order, colours = frame["name"].tolist(), _colours(frame["name"].tolist())
    panels = []
    for place, name in enumerate(_LENGTHS):
        is_share, shown = name == "attention", frame.dropna(subset=name)
        axis = alt.Axis(labelLimit=150) if place == 0 else None
        rows = alt.Y("name:N", title=None, sort=order, scale=alt.Scale(domain=order), axis=axis)
        scale = alt.Scale(domain=[0, float(shown[name].max()) * 1.4 or 1.0], nice=False)
        ticks = alt.Axis(tickCount=2, format=".0%" if is_share else ".2~g")
        colour = alt.Scale(domain=list(colours), range=list(colours.values()))
        base = Chart(shown).encode(
            x=alt.X(f"{name}:Q", title=title(name), scale=scale, axis=ticks), y=rows
        )
        marks = base.mark_bar(size=16, tooltip=False)
        marks = marks.encode(color=alt.Color("name:N", scale=colour, legend=None))
        numbers = base.mark_text(align="left", dx=4, fontSize=12, tooltip=False).encode(
            text=alt.Text(f"{name}:Q", format=".1%" if is_share else ".3~g")
        )
        panels.append(layered(marks, numbers, width=_WIDE, height=_ROW * len(order)))
    return alt.hconcat(*panels, spacing=14)
