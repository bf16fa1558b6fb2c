"""Relevance maps of a text: tokens shaded in proportion, and a row of cells per start layer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.charts.chart_theme import Chart, layered, rows_height
from pages.charts.colours import MARKED
from pages.charts.encodings import name_at
from pages.charts.heat_map import heat_map
from pages.drawn import shading
from pages.drawn.image_ground import Numbers
from pages.kit.kinds import Kind
from pages.kit.section import Choices, Figure
from pages.kit.view import View
from pages.relevance.maps import Maps, Panel
from pages.services.inquiry import Inquiry
from pages.words.columns import title
from pages.words.numbers import percent
from pages.words.say import say
from pages.words.scope import say_here

_IN_PROPORTION = 1.0
_ROW, _FEWEST, _AROUND = 26, 5, 60  # height of a row in pixels, least number of rows, and axes
_LEGIBLE = 32  # tokens up to which their own names stand below the cells
_EVERY = 20


@dataclass(frozen=True, kw_only=True)
class TextMaps(Kind):
    """The chosen text, shaded by each map; small ones side by side."""

    panels: Callable[[Choices], list[Panel]]
    small: bool = True

    def rows(self, _: Inquiry, choices: Choices) -> pd.DataFrame:
        """Rows of a figure with these maps: a column of relevance for each."""
        panels, maps = self.panels(choices), choices["maps"]
        if not panels or maps.ground.n_patches:
            return pd.DataFrame()
        places = {"pos": range(1, len(maps.tokens) + 1), "token": maps.tokens["token"]}
        names = [panel.name if self.small else "relevance" for panel in panels]
        relevances = (panel.relevance for panel in panels)
        return pd.DataFrame(places | dict(zip(names, relevances, strict=True)))

    def show(
        self, view: View, figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        panels, maps = self.panels(choices), choices["maps"]
        is_own = self.small and choices.get("scale") == "own"
        apart = maps.tokens["apart"].to_numpy()
        tops = [float(np.max(panel.relevance[~apart], initial=0.0)) for panel in panels]
        end, format = (1.0, "{:.0%}") if is_own else (max(tops), "{:.2%}")
        parts = []
        for panel, top in zip(panels, tops, strict=True):
            text = _shaded(maps, panel.relevance, top if is_own else end)
            kept = shares_apart(maps, panel.relevance)
            parts.append(shading.titled(panel.title, kept, text) if self.small else text)
        name = say_here("shaded_own" if is_own else "shaded_shared")
        shades = shading.Shades(end, power=_IN_PROPORTION)
        scale = shading.scale(name, shades, format, apart=say_here("shaded_apart"))
        texts = shading.side_by_side(*parts, small=True) if self.small else parts[0]
        state = (maps, *map(choices.get, ("rule", "layer", "head", "scale")))
        view.markup(figure.name, frame, shading.STYLE + scale + texts, state=state, **said)


def shares_apart(maps: Maps, relevance: Numbers) -> str:
    """Format the relevance of tokens that are set apart, by token."""
    shares: dict[str, float] = {}
    apart = maps.tokens["apart"].to_numpy()
    for name, share in zip(maps.tokens["name"][apart], relevance[apart], strict=True):
        shares[name] = shares.get(name, 0.0) + share
    return say("list.comma").join(f"{name} {percent(value)}" for name, value in shares.items())


def _shaded(maps: Maps, relevance: Numbers, top: float) -> str:
    fields = {name: f"{{{name}}}" for name in ("token", "share")}
    tooltip = say_here("shaded_token", **fields)  # once for all tokens
    names, apart = (maps.tokens[name].tolist() for name in ("name", "apart"))
    tokens = [
        shading.Shaded(
            token,
            value,
            tooltip.replace("{share}", f"{value:.3%}").replace("{token}", name),
            apart=is_apart,
        )
        for token, name, is_apart, value in zip(
            maps.tokens["token"], names, apart, map(float, relevance), strict=True
        )
    ]
    return shading.text(tokens, shading.Shades(top, power=_IN_PROPORTION))


def strip_rows(_: Inquiry, choices: Choices) -> pd.DataFrame:
    """Relevance by start layer and token: layer, pos (from 1), token, apart, relevance."""
    maps = choices["maps"]
    layers = maps.layers(choices["rule"], choices["head"])
    if len(layers) < 2:
        return pd.DataFrame()
    texts = maps.tokens.drop(columns="token").rename(columns={"name": "token"})
    texts.insert(0, "pos", range(1, len(texts) + 1))
    return pd.DataFrame(
        {
            "layer": np.repeat([*layers], len(texts)),
            **{name: np.tile(texts[name].to_numpy(), len(layers)) for name in texts},
            "relevance": np.concatenate([*layers.values()]),
        }
    )


def strip(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw a row per start layer; cells of tokens set apart stay empty, and a frame marks a row."""
    names = frame["token"][: frame["pos"].max()].tolist()
    few, places = len(names) <= _LEGIBLE, list(range(1, len(names) + 1))
    axis = alt.Axis(
        labelAngle=-60 if few else 0,
        labelExpr=name_at(names, first=1) if few else "datum.value",
        values=places if few else places[_EVERY - 1 :: _EVERY],
        labelOverlap=False,
        ticks=False,
        labelLimit=90,
    )
    across = alt.X("pos:O", title=title("pos"), axis=axis, scale=alt.Scale(domain=places))
    cells = heat_map(
        frame[~frame["apart"]],
        x="pos",
        across=across,
        value="relevance",
        format=".2%",
        tooltip=("token",),
    )
    row = Chart(frame.loc[frame["layer"] == choices["layer"], ["layer"]].head(1))
    row = row.mark_rect(filled=False, stroke=MARKED, strokeWidth=2)
    row = row.encode(y=alt.Y("layer:O"), x=alt.XValue(0), x2=alt.X2Value("width"))
    height = rows_height(max(frame["layer"].nunique(), _FEWEST), _ROW) + _AROUND
    return layered(cells, row, height=height)
