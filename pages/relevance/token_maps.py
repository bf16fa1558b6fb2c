"""The tokens of one text and the maps over them, from the file or just made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.tables.pairs.pair_occurrence import sequence
from pages.relevance.map_source import LiveMaps, MapSource, StoredMaps
from pages.ui.charts.image_ground import ImageGround
from pages.ui.charts.pieces import readable
from pages.ui.store.chosen import ask, open_store

_SPECIAL = ("cls", "sep", "register")
_NO_GROUND = ImageGround(0, 0, ())


@dataclass(frozen=True)
class TokenMaps:
    """A text.

    Attributes:
        apart: which tokens are no content, or are where relevance starts: they often keep so much
            that nothing else would be seen beside them.
        source: the maps, of all tokens.
    """

    tokens: tuple[str, ...]
    apart: tuple[bool, ...]
    source: MapSource

    @property
    def names(self) -> list[str]:
        """The tokens as readers see them; white space by itself as signs that can be seen."""
        pairs = zip(readable(list(self.tokens)), self.tokens, strict=True)
        return [shown.strip() or _visible(space) or token for (space, shown), token in pairs]

    def content(self, relevance: Sequence[float]) -> np.ndarray:
        """Relevance of the tokens that are not told apart."""
        return np.asarray(relevance, dtype=float)[~np.asarray(self.apart)]

    def highest(self, relevance: Sequence[float]) -> float:
        """The largest relevance that is not told apart; 0 where all of it is."""
        return float(self.content(relevance).max(initial=0.0))

    def numbers(self, columns: Mapping[str, Sequence[float]]) -> pd.DataFrame:
        """A row per token: its place from 1, itself as the tokenizer writes it, and its values."""
        places = {"pos": range(1, len(self.tokens) + 1), "token": list(self.tokens)}
        return pd.DataFrame(places | {name: list(each) for name, each in columns.items()})


def _visible(space: str) -> str:
    return space.replace(" ", "␣").replace("\n", "↵")


def stored(seq: int) -> TokenMaps:
    """A text of the open file whose maps are kept."""
    tokens = ask(sequence, seq=seq)
    apart = tokens["token_type"].isin(_SPECIAL).to_numpy()
    return TokenMaps(tuple(tokens["token"]), _with_start(apart), StoredMaps(seq, _NO_GROUND))


def computed(live: Any, name: str) -> TokenMaps:
    """A text whose maps the model has just made.

    Args:
        live: what the door to precompute gives back.
        name: what tells it from other texts.
    """
    apart = ~np.asarray(live.is_content)
    return TokenMaps(tuple(live.tokens), _with_start(apart), LiveMaps(name, live))


def _with_start(apart: np.ndarray) -> tuple[bool, ...]:
    """Told apart as well: the last token, where relevance starts there, since it keeps much."""
    apart = apart.copy()
    if open_store().facts.get("relevance_start") == "last":
        apart[-1] = True
    return tuple(bool(each) for each in apart)
