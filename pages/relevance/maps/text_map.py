"""A text and the maps over it: every token shaded in proportion to its relevance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.tables.pairs.pair_occurrence import sequence
from pages.relevance.maps.source import LiveMaps, MapSource, StoredMaps
from pages.ui.charts import shading
from pages.ui.charts.image_ground import Numbers
from pages.ui.charts.pieces import readable
from pages.ui.store.absences import SPECIAL
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.numbers import percent
from pages.ui.words.place import say_here
from pages.ui.words.say import say

_BRACKETS = "[]<>"
_SIGNS = str.maketrans(" \n", "␣↵")
_IN_PROPORTION = 1.0


@dataclass(frozen=True)
class TokenMaps:
    """A text.

    Attributes:
        apart: which tokens are no content, or are where relevance starts: they often keep so much
            that nothing else would be seen beside them.
        source: the maps, of all tokens.
    """

    tokens: tuple[str, ...]
    apart: np.ndarray
    source: MapSource

    @property
    def names(self) -> list[str]:
        """The tokens as readers see them; white space by itself as signs that can be seen."""
        pairs = zip(readable(list(self.tokens)), self.tokens, strict=True)
        return [
            shown.strip() or space.translate(_SIGNS) or token for (space, shown), token in pairs
        ]

    def content(self, relevance: Numbers) -> np.ndarray:
        """Relevance of the tokens that do not stand apart."""
        return np.asarray(relevance, dtype=float)[~self.apart]

    def highest(self, relevance: Numbers) -> float:
        """The largest relevance of a token that does not stand apart; 0 where all do."""
        return float(self.content(relevance).max(initial=0.0))

    def numbers(self, columns: Mapping[str, Any]) -> pd.DataFrame:
        """A row per token: its place from 1, itself as the tokenizer writes it, and its values."""
        places = {"pos": range(1, len(self.tokens) + 1), "token": list(self.tokens)}
        return pd.DataFrame(places | dict(columns))


def stored_text(seq: int) -> TokenMaps:
    """A text of the open file whose maps are kept."""
    tokens = ask(sequence, seq=seq)
    apart = tokens["token_type"].isin(SPECIAL).to_numpy()
    return TokenMaps(tuple(tokens["token"]), _with_start(apart), StoredMaps(seq))


def live_text(live: Any, name: str) -> TokenMaps:
    """A text whose maps the model has just made, with its name, as `LiveMaps` has them."""
    apart = _with_start(~np.asarray(live.is_content))
    return TokenMaps(tuple(live.tokens), apart, LiveMaps(name, live))


def _with_start(apart: np.ndarray) -> np.ndarray:
    """The last token stands apart as well where relevance starts there, since it keeps much."""
    starts_last = open_store().facts.get("relevance_start") == "last"
    return np.append(apart[:-1], True) if starts_last else apart


def large_text(maps: TokenMaps, relevance: np.ndarray) -> str:
    """One map, with its scale."""
    top = maps.highest(relevance)
    return shading.STYLE + _scale(top) + _shaded(maps, relevance, top)


def small_texts(maps: TokenMaps, relevances: Mapping[str, np.ndarray], *, own_scale: bool) -> str:
    """Many maps side by side, with their scale.

    Args:
        relevances: by the name that stands above each.
        own_scale: whether the strongest ground is that of each text's own most relevant token,
            else that of all of them.
    """
    tops = {name: maps.highest(relevance) for name, relevance in relevances.items()}
    common = max(tops.values(), default=0.0)
    parts = (
        shading.titled(
            name,
            shares_apart(maps, relevance),
            _shaded(maps, relevance, tops[name] if own_scale else common),
        )
        for name, relevance in relevances.items()
    )
    scale = _scale(common, is_own=own_scale)
    return shading.STYLE + scale + shading.side_by_side(*parts, small=True)


def shares_apart(maps: TokenMaps, relevance: np.ndarray) -> str:
    """What the tokens have that stand apart: each kind with its share."""
    shares = pd.Series(relevance, maps.names)[maps.apart].groupby(level=0, sort=False).sum()
    kinds = (f"{_quoted(str(name))} {percent(value)}" for name, value in shares.items())
    return say("list.comma").join(kinds)


def _scale(top: float, *, is_own: bool = False) -> str:
    name, end, format = ("own", 1.0, "{:.0%}") if is_own else ("shared", top, "{:.2%}")
    return shading.scale(
        say_here(f"shaded_{name}"),
        shading.Shades(end, power=_IN_PROPORTION),
        format,
        apart=say_here("shaded_apart"),
    )


def _shaded(maps: TokenMaps, relevance: np.ndarray, top: float) -> str:
    tokens = []
    rows = zip(maps.tokens, maps.names, maps.apart, map(float, relevance), strict=True)
    for token, name, apart, value in rows:
        tooltip = say_here("shaded_token", token=name, share=f"{value:.3%}")
        tokens.append(shading.Shaded(token, value, tooltip, apart=apart))
    return shading.text(tokens, shading.Shades(top, power=_IN_PROPORTION))


def _quoted(name: str) -> str:
    """A token of the text in quotation marks, a special one without."""
    is_special = name[:1] in _BRACKETS and name[-1:] in _BRACKETS
    return name if is_special else say_here("shaded_quoted", token=name)
