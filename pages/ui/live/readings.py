"""Sequences for the model of the open file, and the shares that their tokens take from each other.

All functions require that the model is `door.reachable`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import streamlit as st

from pages.ui.live import door
from pages.ui.live.waiting import in_turn
from pages.ui.view import View
from pages.ui.words.say import say

Question = Callable[..., pd.DataFrame]


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
    typed = door.unless_refused(view, in_turn, _typed, door.identity(), text, door.max_tokens())
    if typed is None:
        return None
    sequence, is_cut = typed
    return Reading(_key(text.encode()), sequence, is_cut=is_cut)


def of_image(view: View, upload: Any) -> Reading | None:
    """Image of the reader's own; None if it cannot be used; the reader is told why.

    Args:
        upload: the result of `door.upload_box`.
    """
    if door.is_too_large(view, upload):
        return None
    data = upload.getvalue()
    uploaded = door.unless_refused(view, in_turn, _uploaded, door.identity(), data, upload.name)
    return None if uploaded is None else Reading(_key(data), *uploaded)


def layer_maps(reading: Reading, *, layer: int) -> Any:
    """Shares of every token in every other in a layer, counted from 1, as `LayerMaps`."""
    maps = _maps_of_file if reading.is_of_file else _maps_of_reader
    with st.spinner(say("live.running")):
        return in_turn(maps, door.identity(), reading.key, layer, reading.sequence)


def head_shares(reading: Reading, *, layer: int, weighing: str) -> np.ndarray:
    """Shares of every key in each query's attention, by head of a layer, of a text of the file."""
    with st.spinner(say("live.running")):
        return in_turn(
            _head_shares, door.identity(), reading.key, layer, weighing, reading.sequence
        )


def head_vectors(reading: Reading, *, layer: int, head: int, query: int) -> Any:
    """α and f(x) of every key for a query, counted from 0, as `HeadVectors`."""
    place, sequence = (layer, head, query), reading.sequence
    with st.spinner(say("live.running")):
        return in_turn(_head_vectors, door.identity(), reading.key, place, sequence)


def answers(reading: Reading, questions: Iterable[Question]) -> list[pd.DataFrame]:
    """Answers of queries on sequences, as from a file of this sequence alone."""
    with st.spinner(say("live.running")):
        tables = in_turn(_numbers, door.identity(), reading.key, reading.sequence)
    with duckdb.connect() as store:
        for name, table in tables.items():
            store.register(name, table)
        return [question(store) for question in questions]


@st.cache_data(max_entries=4, scope="session", show_spinner=False)
def _typed(model: door.Model, text: str, max_tokens: int) -> Any:
    return door.asked(model, "typed", text, max_tokens=max_tokens)


@st.cache_data(max_entries=4, scope="session", show_spinner=False)
def _uploaded(model: door.Model, data: bytes, name: str) -> Any:
    return door.asked(model, "uploaded", data, name=name)


@st.cache_data(max_entries=4, scope="session", show_spinner=False)
def _numbers(model: door.Model, key: str, _sequence: Any) -> Any:
    return door.asked(model, "numbers", _sequence)


@st.cache_data(max_entries=64, max_size="16MB", scope="session", show_spinner=False)
def _maps_of_reader(model: door.Model, key: str, layer: int, _sequence: Any) -> Any:
    return door.asked(model, "layer_maps", _sequence, layer=layer)


@st.cache_data(max_entries=256, max_size="64MB", show_spinner=False)
def _maps_of_file(model: door.Model, key: str, layer: int, _sequence: Any) -> Any:
    return door.asked(model, "layer_maps", _sequence, layer=layer)


@st.cache_data(max_entries=256, max_size="64MB", show_spinner=False)
def _head_shares(model: door.Model, key: str, layer: int, weighing: str, _sequence: Any) -> Any:
    return door.asked(model, "head_shares", _sequence, layer=layer, weighing=weighing)


@st.cache_data(max_entries=32, max_size="32MB", scope="session", show_spinner=False)
def _head_vectors(model: door.Model, key: str, place: tuple[int, int, int], _sequence: Any) -> Any:
    names = ("layer", "head", "query")
    return door.asked(model, "head_vectors", _sequence, **dict(zip(names, place, strict=True)))


def _key(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]
