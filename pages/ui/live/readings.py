"""Sequences for the model of the open file, and the shares that their tokens take from each other.

All functions require that the model is `live_model.reachable`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.live import live_model
from pages.ui.live.waiting import in_turn
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.say import say


@dataclass(frozen=True)
class Reading:
    """A sequence for the model, identified by its key.

    `grid` is of a reader's image: picture, rows, columns, first_patch. `is_cut` is True if the end
    of a text was left out. `is_of_file` is True for a sequence of the open file: the model's
    results on it are shared between all readers. `sequence` then holds what the file stores of it:
    ids and segments, or a picture.
    """

    key: str
    sequence: Any
    grid: Mapping[str, Any] = field(default_factory=dict)
    is_cut: bool = False
    is_of_file: bool = False

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.sequence.tokens

    @property
    def token_types(self) -> tuple[str, ...]:
        """Token types of a reader's own input."""
        return self.sequence.named_types

    @property
    def token_ids(self) -> tuple[int, ...]:
        return tuple(self.sequence.ids.tolist())


def of_file(tokens: pd.DataFrame, picture: bytes | None) -> Reading:
    """Sequence of the open file.

    Args:
        tokens: of the sequence in their order, with columns token_id and segment.
        picture: of an image, as stored in the file.
    """
    if picture is not None:
        return Reading(_key(picture), picture, is_of_file=True)
    kept = tuple(tokens[column].tolist() for column in ("token_id", "segment"))
    return Reading(_key(repr(kept).encode()), kept, is_of_file=True)


def of_text(view: View, text: str) -> Reading | None:
    """Text of the reader's own; None if it cannot be used; the reader is told why."""
    typed = live_model.unless_refused(
        view,
        in_turn,
        _typed,
        live_model.identity(view.store),
        text,
        live_model.max_tokens(view.store),
    )
    if typed is None:
        return None
    sequence, is_cut = typed
    return Reading(_key(text.encode()), sequence, is_cut=is_cut)


def of_image(view: View, upload: Any) -> Reading | None:
    """Image of the reader's own; None if it cannot be used; the reader is told why.

    Args:
        upload: the result of `live_model.upload_box`.
    """
    if live_model.is_too_large(view, upload):
        return None
    data = upload.getvalue()
    uploaded = live_model.unless_refused(
        view, in_turn, _uploaded, live_model.identity(view.store), data, upload.name
    )
    return None if uploaded is None else Reading(_key(data), *uploaded)


def layer_maps(store: Store, reading: Reading, *, layer: int) -> Any:
    """Shares of every token in every other in a layer, counted from 1, as `LayerMaps`."""
    maps = _maps_of_file if reading.is_of_file else _maps_of_reader
    with st.spinner(say("live.running")):
        return in_turn(maps, live_model.identity(store), reading.key, layer, reading.sequence)


def head_vectors(store: Store, reading: Reading, *, layer: int, head: int, query: int) -> Any:
    """α and f(x) of every key for a query, counted from 0, as `HeadVectors`."""
    place, sequence = (layer, head, query), reading.sequence
    with st.spinner(say("live.running")):
        model = live_model.identity(store)
        return in_turn(_head_vectors, model, reading.key, place, sequence)


@st.cache_data(max_entries=4, scope="session", show_spinner=False)
def _typed(model: live_model.Model, text: str, max_tokens: int) -> Any:
    return live_model.asked(model, "typed", text, max_tokens=max_tokens)


@st.cache_data(max_entries=4, scope="session", show_spinner=False)
def _uploaded(model: live_model.Model, data: bytes, name: str) -> Any:
    return live_model.asked(model, "uploaded", data, name=name)


@st.cache_data(max_entries=64, max_size="16MB", scope="session", show_spinner=False)
def _maps_of_reader(model: live_model.Model, key: str, layer: int, _sequence: Any) -> Any:
    return live_model.asked(model, "layer_maps", _sequence, layer=layer)


@st.cache_data(max_entries=256, max_size="64MB", show_spinner=False)
def _maps_of_file(model: live_model.Model, key: str, layer: int, _sequence: Any) -> Any:
    return live_model.asked(model, "layer_maps", _sequence, layer=layer)


@st.cache_data(max_entries=32, max_size="32MB", scope="session", show_spinner=False)
def _head_vectors(
    model: live_model.Model, key: str, place: tuple[int, int, int], _sequence: Any
) -> Any:
    names = ("layer", "head", "query")
    return live_model.asked(
        model, "head_vectors", _sequence, **dict(zip(names, place, strict=True))
    )


def _key(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]
