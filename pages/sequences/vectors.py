"""Vectors that a head adds up for one token: f(x), α f(x) and their sum (Kobayashi et al. 2020).

Three tokens are drawn: those with the most weight α, the longest α f(x) and the longest f(x).
"""

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.charts.chart_theme import Chart, layered, tooltips
from pages.charts.colours import SERIES_COLOURS
from pages.charts.encodings import named
from pages.kit.grammar import exactly
from pages.kit.head_choice import every_head, pick_head
from pages.kit.section import Choices, of_head
from pages.kit.view import View
from pages.services.inquiry import Inquiry
from pages.services.live_model import run_on
from pages.words.columns import title
from pages.words.scope import say_here

_DRAWN = 3  # tokens
_SIDE = 270  # pixels of a plane
_LENGTHS = ("attention", "value_norm", "weighted_norm")
_ROOM = 1.25  # of the longest arrow, so that its name has room


@dataclass(frozen=True)
class Parts:
    """Names of all tokens, and α and f(x) of each, of one head for one query."""

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
        """Tokens with the largest α, ‖αf(x)‖ and ‖f(x)‖, or the next α; none without a weight."""
        weighty = np.flatnonzero(self.weights > 0)
        lengths = self.lengths.loc[weighty, ["attention", "weighted_norm", "value_norm"]].to_numpy()
        by_weight = np.argsort(-lengths[:, 0], kind="stable")
        best = weighty[[*lengths.argmax(axis=0), *by_weight]].tolist()
        return list(dict.fromkeys(best))[:_DRAWN]

    @property
    def sums(self) -> dict[str, np.ndarray]:
        """Sums of α f(x), of tokens that are not drawn, and of all."""
        weighted = self.weights[:, None] * self.vectors
        rest = np.delete(weighted, self.chosen, axis=0)
        return {"rest": rest.sum(axis=0), "sum": weighted.sum(axis=0)}

    @property
    def arrows(self) -> pd.DataFrame:
        """Arrows: panel, name, x, y, length, in_plane (share of its square in the plane).

        The plane fits the directions of the drawn f(x), of the rest and of the sum best.
        """
        sums = {say_here(name): of for name, of in self.sums.items() if name == "sum" or of.any()}
        before = {self.names[at]: self.vectors[at] for at in self.chosen}
        after = {self.names[at]: self.weights[at] * self.vectors[at] for at in self.chosen} | sums
        fitted = np.array([*before.values(), *sums.values()], dtype=float)
        norms = np.linalg.norm(fitted, axis=1, keepdims=True)
        *_, axes = np.linalg.svd(fitted / np.where(norms > 0, norms, 1), full_matrices=False)
        parts = []
        for panel, drawn in {"before": before, "after": after}.items():
            vectors = np.array([*drawn.values()], dtype=float)
            x, y = np.pad(vectors @ axes[:2].T, [(0, 0), (0, 2 - len(axes[:2]))]).T
            of = {"x": x, "y": y, "length": np.linalg.norm(vectors, axis=1)}
            parts.append(pd.DataFrame({"panel": panel, "name": [*drawn], **of}))
        frame = pd.concat(parts, ignore_index=True)
        seen = np.hypot(frame["x"], frame["y"]) / frame["length"].where(frame["length"] > 0)
        return frame.assign(in_plane=seen**2)

    @property
    def bars(self) -> pd.DataFrame:
        """A row per drawn token, one for the rest and one for the sum: name and lengths."""
        rows = self.lengths.loc[self.chosen].assign(name=[self.names[at] for at in self.chosen])
        total = self.weights.sum()
        weights = [total - rows["attention"].sum(), total]
        lengths = [np.linalg.norm(of) for of in self.sums.values()]
        of = {"attention": weights, "value_norm": np.nan, "weighted_norm": lengths}
        of_all = pd.DataFrame({"name": [say_here(name) for name in self.sums], **of})
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


def found(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding: the weight of a token against its part of the lengths; and the sum."""
    parts = parts_of(inquiry, choices)
    lengths, together = parts.lengths, float(parts.lengths["weighted_norm"].sum())
    most = int(lengths["attention"].argmax())
    of = {"query": parts.names[choices["query"]], "token": parts.names[most], **of_head(choices)}
    share = {**of, "sentence": 1, "format": ".1%"}
    length = {**of, "sentence": 2, "format": ".2f"}
    return pd.DataFrame(
        [
            exactly("weight", lengths["attention"][most], **share),
            exactly("length", lengths["weighted_norm"][most] / (together or np.nan), **share),
            exactly("sum", np.linalg.norm(parts.sums["sum"]), **length),
            exactly("together", together, **length),
        ]
    )


def draw_arrows(frame: pd.DataFrame, *_: Any) -> Any:
    """Draw f(x) and α f(x) as arrows from 0, each panel on a scale of its own."""
    colours: Any = dict(zip(map(str, frame["name"].unique()), SERIES_COLOURS, strict=False))
    planes = [_plane(part, colours) for _, part in frame.groupby("panel", sort=False)]
    return alt.hconcat(*planes, spacing=40).resolve_scale(x="independent", y="independent")


def _plane(frame: pd.DataFrame, colours: dict[str, str]) -> Any:
    reach = _ROOM * max(float(frame[["x", "y"]].abs().to_numpy().max()), 1e-9)
    of: Any = {"scale": alt.Scale(domain=[-reach, reach], nice=False)}
    of["axis"] = alt.Axis(tickCount=3, format=".2~g", grid=True)
    shown = frame.assign(angle=np.degrees(np.arctan2(frame["x"], frame["y"])))
    words = {name: title(name) for name in ("name", "length", "in_plane")}
    base = Chart(shown).encode(
        x=alt.X("x:Q", title=say_here("axis_x"), **of),
        y=alt.Y("y:Q", title=say_here("axis_y"), **of),
        color=named("name", colours, title=None, symbolType="stroke"),
        tooltip=tooltips(words, shown, ".3~g"),
    )
    middle = {"x2": alt.X2Value(_SIDE / 2), "y2": alt.Y2Value(_SIDE / 2)}
    tips = base.mark_point(shape="triangle-up", filled=True, size=90, opacity=1)
    tips = tips.encode(angle=alt.Angle("angle:Q", scale=None))
    heading = say_here(f"panel_{frame['panel'].iloc[0]}")
    rules = base.mark_rule(strokeWidth=2.5).encode(**middle)
    return layered(rules, tips, title=heading, width=_SIDE, height=_SIDE)
