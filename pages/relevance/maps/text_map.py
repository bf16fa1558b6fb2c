"""Relevance maps of a text: every token is shaded in proportion to its relevance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.statistics.pairs.pair_occurrence import sequence
from pages.relevance.maps.source import LiveMaps, MapSource, StoredMaps
from pages.ui.charts import shading
from pages.ui.charts.image_ground import Numbers
from pages.ui.charts.pieces import readable
from pages.ui.store.absences import SPECIAL
from pages.ui.store.inquiry import Inquiry
from pages.ui.store.open_file import Store
from pages.ui.words.numbers import percent
from pages.ui.words.say import say
from pages.ui.words.scope import say_here

_BRACKETS = "[]<>"
_SIGNS = str.maketrans(" \n", "␣↵")
_IN_PROPORTION = 1.0


@dataclass(frozen=True)
class TokenMaps:
    """A text with its maps.

    Attributes:
        apart: True for special tokens and for the token where relevance starts. Their relevance is
            often so large that no other token would be visible on their scale.
        source: the maps, of all tokens.
    """

    tokens: tuple[str, ...]
    apart: np.ndarray
    source: MapSource

    @property
    def names(self) -> list[str]:
        """Tokens as readers see them; white space as visible signs."""
        pairs = zip(readable(list(self.tokens)), self.tokens, strict=True)
        return [
            shown.strip() or space.translate(_SIGNS) or token for (space, shown), token in pairs
        ]

    def content(self, relevance: Numbers) -> np.ndarray:
        """Relevance of the tokens that are not set apart."""
        return np.asarray(relevance, dtype=float)[~self.apart]

    def highest(self, relevance: Numbers) -> float:
        """Largest relevance of a token that is not set apart; 0 if all are."""
        return float(self.content(relevance).max(initial=0.0))

    def numbers(self, columns: Mapping[str, Any]) -> pd.DataFrame:
        """A row per token: position from 1, token as the tokenizer writes it, and its values."""
        places = {"pos": range(1, len(self.tokens) + 1), "token": list(self.tokens)}
        return pd.DataFrame(places | dict(columns))


def stored_text(inquiry: Inquiry, seq: int) -> TokenMaps:
    """Text of the open file with its stored maps."""
    tokens = inquiry.ask(sequence, seq=seq)
    apart = tokens["token_type"].isin(SPECIAL).to_numpy()
    return TokenMaps(
        tuple(tokens["token"]), _with_start(inquiry.store, apart), StoredMaps(inquiry, seq)
    )


def live_text(store: Store, live: Any, name: str) -> TokenMaps:
    """Text with maps that the model has just computed."""
    apart = _with_start(store, ~np.asarray(live.is_content))
    return TokenMaps(tuple(live.tokens), apart, LiveMaps(name, live, store.layers))


def _with_start(store: Store, apart: np.ndarray) -> np.ndarray:
    """Set the last token apart as well if relevance starts there, since it keeps much."""
    starts_last = store.facts.get("relevance_start") == "last"
    return np.append(apart[:-1], True) if starts_last else apart


def large_text(maps: TokenMaps, relevance: np.ndarray) -> str:
    """Markup of one map with its scale."""
    top = maps.highest(relevance)
    return shading.STYLE + _scale(top) + _shaded(maps, relevance, top)


def small_texts(maps: TokenMaps, relevances: Mapping[str, np.ndarray], *, own_scale: bool) -> str:
    """Markup of many maps side by side, with their scale.

    Args:
        relevances: by the title of each map.
        own_scale: whether each scale ends at the text's own most relevant token, or at that of all
            texts.
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
    """Format the relevance of tokens that are set apart, by token."""
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
    """Quote a token of the text; special tokens stay without quotation marks."""
    is_special = name[:1] in _BRACKETS and name[-1:] in _BRACKETS
    return name if is_special else say_here("shaded_quoted", token=name)
