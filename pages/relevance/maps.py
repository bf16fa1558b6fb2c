"""Relevance maps of one input, stored in the open file or just computed for the reader."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from analysis.relevance_rules import ALL
from analysis.statistics.pairs.pair_occurrence import sequence
from pages.drawn.image_ground import ImageGround, Numbers, ground_of
from pages.drawn.pieces import readable
from pages.kit.section import Choices, rows_of
from pages.kit.view import View
from pages.services import live_model as live
from pages.services.absences import SPECIAL
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store

MEAN = "mean"
"""Name of the mean over heads, in the address too, in place of a head's number."""
OWN = "own"
"""Name of the reader's own image or text, in place of a number of the file."""
_NO_IMAGE = ImageGround(0, 0, ())
_STORED = "select rule, layer, head, relevance from relevance_map where seq = $seq"
_CLASSES = "select label, probability from class_prediction where seq = $seq order by rank"
_SIGNS = str.maketrans(" \n", "␣↵")


@dataclass(frozen=True)
class Maps:
    """Maps of an image or a text by rule, start layer and head.

    Attributes:
        rows: rule, layer, head (missing: their mean, or a map of no single head), relevance.
        tokens: of a text: token, name, and whether it is set apart.
        prediction: classes with their probabilities, the likeliest first.
        seq: number of the sequence if the file stores the maps.
    """

    name: str
    rows: pd.DataFrame
    tokens: pd.DataFrame
    ground: ImageGround = _NO_IMAGE
    prediction: list[tuple[str, float]] = field(default_factory=list)
    seq: int | None = None

    def __str__(self) -> str:
        return self.name

    @cached_property
    def _maps(self) -> dict[tuple[str, int, Any], np.ndarray]:
        """Maps by rule, start layer and head, in this order of layers and heads, the mean first."""
        rows = self.rows.sort_values(["layer", "head"], na_position="first")
        columns = (rows[name].tolist() for name in ("rule", "layer", "head", "relevance"))
        return {
            (rule, int(layer), MEAN if pd.isna(head) else int(head)): np.asarray(relevance, float)
            for rule, layer, head, relevance in zip(*columns, strict=True)
        }

    @property
    def rules(self) -> dict[str, np.ndarray]:
        """Map of each rule from the last layer, without single heads."""
        last = max((layer for _, layer, _ in self._maps), default=0)
        maps = {rule: self._maps.get((rule, last, MEAN)) for rule in ALL}
        return {rule: found for rule, found in maps.items() if found is not None}

    def heads(self, rule: str | None, layer: int) -> dict[Any, np.ndarray]:
        """Map of the mean over heads, then of each head that the rule follows separately."""
        return {of[2]: found for of, found in self._maps.items() if of[:2] == (rule, layer)}

    def layers(self, rule: str | None, head: Any = MEAN) -> dict[int, np.ndarray]:
        """Map of one head, or of the mean, from each start layer."""
        return {of[1]: found for of, found in self._maps.items() if of[::2] == (rule, head)}


_NO_MAPS = Maps("", pd.DataFrame(columns=["rule", "layer", "head", "relevance"]), pd.DataFrame())


@dataclass(frozen=True)
class Panel:
    """One map of an image or a text: its name, its title, relevance of every token, and the choices
    that a click on it makes."""

    name: str
    title: str
    relevance: Numbers
    chooses: Mapping[str, Any] = field(default_factory=dict)


def chosen_maps(view: View, choices: Choices) -> dict[str, Maps]:
    """Maps of the chosen image or text; those of the reader's own are stored nowhere."""
    given = (choices.get(name) for name in ("image", "seq"))
    seq = next((name for name in given if name is not None), None)
    if seq == OWN:
        return {"maps": (_own_image if view.store.shows_images else _own_text)(view)}
    return {"maps": _NO_MAPS if seq is None else _stored(view, seq)}


def _stored(inquiry: Inquiry, seq: int) -> Maps:
    tokens = inquiry.ask(sequence, seq=seq)
    classes = rows_of(_CLASSES, inquiry, {"seq": seq})
    return Maps(
        str(seq),
        rows_of(_STORED, inquiry, {"seq": seq}),
        _tokens(inquiry.store, tokens["token"], tokens["token_type"].isin(SPECIAL)),
        ground_of(inquiry, seq) or _NO_IMAGE,
        list(zip(classes["label"], classes["probability"], strict=True)),
        seq,
    )


def _own_image(view: View) -> Maps:
    """Show the upload field, and return the maps of what is uploaded."""
    if not live.reachable(view):
        return _NO_MAPS
    help = view.say("own_help", limit=live.MAX_UPLOAD)
    upload = live.upload_box(view, view.say("own"), help=help)
    found = upload and live.on_own(view, "relevance_of_image", upload)
    if not found:
        return _NO_MAPS
    special = tuple(found.tokens[: found.first_patch])
    ground = ImageGround(found.rows, found.columns, special, found.picture)
    tokens = _tokens(view.store, found.tokens, np.zeros(len(found.tokens), dtype=bool))
    rows = _live_rows(view.store, found.maps)
    return Maps(upload.file_id, rows, tokens, ground, list(found.prediction))


def _own_text(view: View) -> Maps:
    """Show the text box, and return the maps of what is written."""
    text = live.text_box(view)
    found = text and live.reachable(view) and live.on_own(view, "relevance_of_text", text)
    if not found:
        return _NO_MAPS
    if found.is_cut:
        view.write("caption", view.say("own_cut", n=len(found.tokens)))
    tokens = _tokens(view.store, found.tokens, ~np.asarray(found.is_content))
    return Maps(f"{hash(text):x}", _live_rows(view.store, found.maps), tokens)


def _live_rows(store: Store, maps: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Rows of maps by start layer and head, the mean last; some rules start after the last layer
    only."""
    rows = [
        (rule, layer, at + 1 if at + 1 < len(of_layer) else None, relevance)
        for rule, of_rule in maps.items()
        for layer, of_layer in zip(store.layers[-len(of_rule) :], of_rule, strict=True)
        for at, relevance in enumerate(of_layer)
    ]
    return pd.DataFrame(rows, columns=["rule", "layer", "head", "relevance"])


def _tokens(store: Store, tokens: Iterable[str], apart: Any) -> pd.DataFrame:
    """Tokens with names that show white space.

    Set apart are special tokens, and the last one if relevance starts there: they often keep so
    much that no other token would be visible on their scale.
    """
    tokens, apart = list(tokens), np.array(apart)
    if store.facts.get("relevance_start") == "last":
        apart[-1] = True
    pairs = zip(readable(tokens), tokens, strict=True)
    names = [shown.strip() or space.translate(_SIGNS) or token for (space, shown), token in pairs]
    return pd.DataFrame({"token": tokens, "name": names, "apart": apart})
