"""Interface to precompute: runs the model on a sequence of the open file or on the reader's input.

An image stays in the memory of the session, a text in the address, and both, until the next input,
in the process that runs the model; nothing is written, and stored numbers are shown without torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from analysis.errors import UserError
from analysis.statistics.corpus import Identity, identity_in
from analysis.upload_bounds import MAX_CHARACTERS, UPLOAD_BYTES
from pages.kit.view import View
from pages.services.model_process import Refused, model_process
from pages.services.open_file import Store
from pages.words.say import plain, say

_MAX_TOKENS = 128
LONGEST = 2_000  # characters of a text that a link carries
MAX_UPLOAD = UPLOAD_BYTES // 2**20  # MiB of a reader's image; equal to `server.maxUploadSize`
UPLOADS = ["png", "jpg", "jpeg", "webp", "bmp", "gif", "tif", "tiff"]


class Model(NamedTuple):
    """Identity of the model of a file, with the settings of its input."""

    name: str
    revision: str
    identity: Identity
    dtype: str
    segments: str
    random_weights: int | None
    part: str | None


@dataclass(frozen=True)
class Reading:
    """A sequence for the model, by its key: of the open file as stored; of an image with its grid
    (picture, rows, columns, first_patch); of a text perhaps with its end cut off."""

    key: str
    sequence: Any
    grid: Mapping[str, Any] = field(default_factory=dict)
    is_cut: bool = False


@dataclass(frozen=True)
class Maps:
    """Shares of every key in every query before and after an effect; each row sums to 1."""

    before: np.ndarray
    after: np.ndarray

    @property
    def change(self) -> np.ndarray:
        return self.after - self.before


def reachable(view: View) -> bool:
    """Return True if the model of the open file can be run here; if not, tell the reader why."""
    model = plain(view.store.model_name)
    if find_spec("torch") is None:
        view.write("warning", say("live.no_torch", name="torch"))
        return False
    try:
        ask(view.store, "ready")
    except Refused as error:
        key = "other_model" if error.kind == "OtherModel" else "no_model"
        view.write("warning", say(f"live.{key}", model=model, reason=plain(error)))
        return False
    return True


def begin_to_load(store: Store) -> bool:
    """Begin to load the model of a file beside the page, unless one is there; return False if none
    can be run here."""
    if find_spec("torch") is None:
        return False
    model_process().begin(identity(store)._asdict(), "ready", (), {})
    return True


def of_file(tokens: pd.DataFrame, picture: bytes | None) -> Reading:
    """Sequence of the open file: its tokens with columns token_id and segment, or its picture."""
    if picture is not None:
        return Reading(_key(picture), picture)
    kept = tuple(tuple(tokens[column].tolist()) for column in ("token_id", "segment"))
    return Reading(_key(repr(kept).encode()), kept)


def of_text(view: View, text: str) -> Reading | None:
    """Text of the reader's own; None, after telling the reader why, if it cannot be used."""
    typed = on_own(view, "typed", text)
    key = _key(f"{max_tokens(view.store)} {text}".encode())
    return None if typed is None else Reading(key, typed[0], is_cut=typed[1])


def of_image(view: View, upload: Any) -> Reading | None:
    """Image of `upload_box`; None, after telling the reader why, if it cannot be used."""
    uploaded = on_own(view, "uploaded", upload)
    return None if uploaded is None else Reading(_key(upload.getvalue()), *uploaded)


def _key(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]


def run_on(store: Store, function: str, reading: Reading, **named: Any) -> Any:
    """Result of a function of `Rerun` on a sequence; requires that the model is `reachable`."""
    return ask(store, function, reading.sequence, key=reading.key, **named)


def layer_maps(store: Store, reading: Reading, *, layer: int) -> Any:
    """`LayerMaps` of a layer, counted from 1."""
    return run_on(store, "layer_maps", reading, layer=layer)


def effect_maps(store: Store, tokens: pd.DataFrame, *, layer: int, effect: str) -> Maps:
    """Maps of tokens as of `of_file`; requires that the model is `reachable`."""
    shares = layer_maps(store, of_file(tokens, None), layer=layer).scopes
    order = store.layer_order
    return Maps(*(shares[order.scopes.index(scope)] for scope in order.effects[effect]))


def upload_box(view: View, label: str, *, help: str | None = None) -> Any:
    """Show the upload field for the reader's image; None without an upload."""
    key = view.key("upload")
    options = {"key": key, "help": help, "max_upload_size": MAX_UPLOAD}
    view.draw(st.file_uploader, label, UPLOADS, **options)
    return view.choices.state(key)


def text_box(view: View) -> str:
    """Show the form for the reader's text, which is not written into the address."""
    key, help = view.key("own_text"), view.say("own_help")
    with view.place("form", view.key("own_form"), border=False):
        view.draw(st.text_area, view.say("own"), key=key, help=help, max_chars=MAX_CHARACTERS)
        view.draw(st.form_submit_button, view.say("own_start"), type="primary")
    return (view.choices.state(key) or "").strip()


def on_own(view: View, function: str, own: Any) -> Any:
    """Return the result of `ask` on the reader's text or image of `upload_box`; None, after telling
    the reader why, if it cannot be used."""
    if isinstance(own, str):
        data, settings = own, {"max_tokens": max_tokens(view.store)}
    elif own.size > UPLOAD_BYTES:
        name, limit = plain(own.name), str(MAX_UPLOAD)
        return view.write("warning", say("live.too_large", name=name, limit=limit))
    else:
        data, settings = own.getvalue(), {"name": own.name}
    try:
        return ask(view.store, function, data, key=data, **settings)
    except UserError as error:
        return view.write("warning", say("live.not_taken", reason=plain(error)))


def max_tokens(store: Store) -> int:
    """Length that texts of the open file were cut to, in tokens."""
    return int(store.facts.get("max_tokens", _MAX_TOKENS))


def identity(store: Store) -> Model:
    """Identity of the model of the open file."""
    run, facts = store.run, store.facts
    name, revision, dtype = (str(run[column]) for column in ("model", "revision", "dtype"))
    segments, named = facts.get("segments", "read"), (store.random_weights, store.part)
    return Model(name, revision, identity_in(facts), dtype, segments, *named)


def ask(store: Store, function: str, *given: Any, key: Any = None, **named: Any) -> Any:
    """Return the result of a function of `Rerun`: kept, or once the model is free.

    Args:
        key: identity of the input, which may be of any type.

    Raises:
        Refused: the model or the input cannot be used.
    """
    with st.spinner(say(f"live.{model_process().state}")):
        return _answered(identity(store), function, key, named, given)


@st.cache_data(max_entries=64, max_size="96MB", ttl=600, scope="session", show_spinner=False)
def _answered(of: Model, function: str, key: Any, named: Mapping[str, Any], _given: tuple) -> Any:
    return model_process().ask(of._asdict(), function, _given, named)
