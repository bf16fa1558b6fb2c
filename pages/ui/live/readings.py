"""Sequences for the model of the open file, and the shares that their tokens take from each other.

All functions require that the model is `live_model.reachable`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pandas as pd

from pages.ui.live import live_model
from pages.ui.store.open_file import Store
from pages.ui.view import View


@dataclass(frozen=True)
class Reading:
    """A sequence for the model, identified by its key.

    `grid` is of a reader's image: picture, rows, columns, first_patch. `is_cut` is True if the end
    of a text was left out. Of a sequence of the open file, `sequence` holds what the file stores
    of it: ids and segments, or a picture.
    """

    key: str
    sequence: Any
    grid: Mapping[str, Any] = field(default_factory=dict)
    is_cut: bool = False

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
        return Reading(_key(picture), picture)
    kept = tuple(tokens[column].tolist() for column in ("token_id", "segment"))
    return Reading(_key(repr(kept).encode()), kept)


def of_text(view: View, text: str) -> Reading | None:
    """Text of the reader's own; None if it cannot be used; the reader is told why."""
    most = live_model.max_tokens(view.store)
    typed = live_model.unless_refused(view, "typed", text, key=text, max_tokens=most)
    if typed is None:
        return None
    sequence, is_cut = typed
    return Reading(_key(f"{most} {text}".encode()), sequence, is_cut=is_cut)


def of_image(view: View, upload: Any) -> Reading | None:
    """Image of the reader's own; None if it cannot be used; the reader is told why.

    Args:
        upload: the result of `live_model.upload_box`.
    """
    if live_model.is_too_large(view, upload):
        return None
    data = upload.getvalue()
    name = upload.name
    uploaded = live_model.unless_refused(view, "uploaded", data, key=data, name=name)
    return None if uploaded is None else Reading(_key(data), *uploaded)


def layer_maps(store: Store, reading: Reading, *, layer: int) -> Any:
    """Shares of every token in every other in a layer, counted from 1, as `LayerMaps`."""
    return _ask(store, "layer_maps", reading, layer=layer)


def head_vectors(store: Store, reading: Reading, *, layer: int, head: int, query: int) -> Any:
    """α and f(x) of every key for a query, counted from 0, as `HeadVectors`."""
    return _ask(store, "head_vectors", reading, layer=layer, head=head, query=query)


def _ask(store: Store, function: str, reading: Reading, **named: int) -> Any:
    return live_model.ask(store, function, reading.sequence, key=reading.key, **named)


def _key(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]
