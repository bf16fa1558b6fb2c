"""The one door to precompute: a sequence of the open file run again while a reader waits.

Precompute is imported when it is first asked, so that the dashboard starts, and shows what is
stored, without torch.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.errors import Remediable
from pages.shared.open_file import Store
from pages.shared.store import layer_order, open_store
from pages.shared.words import plain, say

_DOOR = "precompute.one_sequence"


@dataclass(frozen=True)
class Maps:
    """Shares of every key in every query before and after an effect; each row sums to 1."""

    before: np.ndarray
    after: np.ndarray

    @property
    def change(self) -> np.ndarray:
        return self.after - self.before


def reachable() -> bool:
    """Whether the model that made the open file can be run here; the reader is told why not."""
    store = open_store()
    try:
        with st.spinner(say("live.loading")):
            _rerun(*_model_of(store))
    except ModuleNotFoundError as error:
        st.warning(say("live.no_torch", name=plain(error.name or _DOOR)))
    except Remediable as error:
        key = "other_weights" if isinstance(error, _door().OtherWeights) else "no_model"
        st.warning(say(f"live.{key}", model=plain(store.model), reason=plain(error)))
    else:
        return True
    return False


def effect_maps(tokens: pd.DataFrame, *, layer: int, effect: str) -> Maps:
    """The maps of one sequence of the open file; ask whether the model is `reachable` first.

    Args:
        tokens: of the sequence in their order, with columns token_id and segment.
        layer: counted from 1.
    """
    ids, segments = (tuple(tokens[name].tolist()) for name in ("token_id", "segment"))
    with st.spinner(say("live.running")):
        shares = _shares(_model_of(open_store()), ids, segments, layer)
    order = layer_order()
    before, after = (shares[order.scopes.index(scope)] for scope in order.effects[effect])
    return Maps(before, after)


def _model_of(store: Store) -> tuple[str, str, str, str]:
    """What tells the model of a file from all others: name, revision, weights, number format."""
    weights = store.facts.get("weights_sha256", "")
    return str(store.run["model"]), str(store.run["revision"]), weights, str(store.run["dtype"])


@st.cache_data(max_entries=64, max_size="64MB", show_spinner=False)
def _shares(
    told: tuple[str, str, str, str], ids: tuple[int, ...], segments: tuple[int, ...], layer: int
) -> np.ndarray:
    return _rerun(*told).row_shares(ids, segments, layer=layer)


@st.cache_resource(max_entries=1, show_spinner=False)
def _rerun(name: str, revision: str, weights_sha256: str, dtype: str) -> Any:
    return _door().rerun(name, revision=revision, weights_sha256=weights_sha256, dtype=dtype)


def _door() -> Any:
    return import_module(_DOOR)
