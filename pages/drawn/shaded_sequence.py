"""Sequence of the open file with its tokens shaded: a text, or an image as a grid of patches."""

from collections.abc import Callable, Hashable, Mapping
from html import escape
from typing import Any

import pandas as pd

from analysis.statistics import norms
from analysis.statistics.corpus import PATCHES
from pages.drawn import shading
from pages.kit.section import rows_of
from pages.services.inquiry import Inquiry
from pages.words.say import plain, say

RECEIVED = "{:.2%}"
"""Format of the weight that a token receives."""


def shaded_by(
    inquiry: Inquiry,
    tokens: pd.DataFrame,
    value: str,
    shades: shading.Shades,
    *,
    hint: Callable[[Mapping[Hashable, Any]], str],
    chosen: str | None = None,
) -> str:
    """Markup of a sequence whose tokens are shaded by a column.

    A text is one line; an image is its special tokens and a grid of patches.

    Args:
        tokens: a row per token, in their order.
        hint: tooltip of a token, from its row.
        chosen: the token that is framed.
    """
    shaded = [
        shading.Shaded(row["token"], row[value], hint(row), row["token"] == chosen)
        for row in tokens.to_dict("records")
    ]
    if not inquiry.store.shows_images:
        return shading.text(shaded, shades)
    grid = rows_of(PATCHES, inquiry, {}).iloc[0]
    special, columns = len(grid["special"]), int(grid["columns"])
    before = shading.text(shaded[:special], shades) if special else ""
    return before + shading.patches(shaded[special:], shades, columns=columns)


def received_tokens(
    inquiry: Inquiry, *, layer: int, head: int, sequences: list[int]
) -> pd.DataFrame:
    """Every token of some sequences with its ‖f(x)‖ in a head, and the weight and the length that
    it receives, means over the queries."""
    asked = """
        select seq, pos, token, token_type,
            (attention_received / n_tokens)::double as attention,
            value_norm::double as value_norm,
            (weighted_norm_received / n_tokens)::double as weighted_norm
        from head_token join token using (seq, pos, token_type) join sequence using (seq)
        where layer = $layer and head = $head and list_contains($sequences, seq)
        order by seq, pos"""
    return rows_of(asked, inquiry, {"layer": layer, "head": head, "sequences": sequences})


def texts_of_head(
    inquiry: Inquiry, texts: pd.DataFrame, *, layer: int, head: int
) -> tuple[list[str], str]:
    """Markup of texts whose tokens are shaded by the weight that they receive from one head.

    Shades run from the least to the most weight in these texts, so that differences are visible in
    uniform heads too. Texts stay plain if the file does not store the weights.

    Args:
        texts: rows seq and text.

    Returns:
        The markup of each, and their scale: empty if none is shaded.
    """
    tokens: dict[Any, pd.DataFrame] = {}
    if inquiry.store.holds(norms.HEAD_TOKEN):
        chosen = {"layer": layer, "head": head, "sequences": texts["seq"].tolist()}
        tokens = dict(iter(received_tokens(inquiry, **chosen).groupby("seq")))
    received = pd.concat([pd.Series(dtype=float), *(rows["attention"] for rows in tokens.values())])
    shades = shading.Shades(float(received.max()), float(received.min()))
    bodies = [
        shaded_by(inquiry, tokens[seq], "attention", shades, hint=_received)
        if seq in tokens
        else f'<div class="an-text">{escape(text)}</div>'
        for seq, text in zip(texts["seq"], texts["text"], strict=True)
    ]
    name = say("head.tokens.received")
    return bodies, shading.scale(name, shades, RECEIVED) if tokens else ""


def _received(row: Mapping[Hashable, Any]) -> str:
    """Tooltip with the weight that a token receives."""
    share = RECEIVED.format(row["attention"])
    return say("head.tokens.received_by", token=row["token"], share=share)


def sequence_name(inquiry: Inquiry, seq: int) -> str:
    """Number of a sequence; for an image with the name of its file."""
    if not inquiry.store.shows_images:
        return str(seq)
    image = rows_of("select name from image where seq = $seq", inquiry, {"seq": seq})
    return f"{seq}, {plain(image['name'][0])}"
