"""One map in words and numbers: class, share on [CLS], most relevant patch, mask."""

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.relevance.maps.source import MapSource
from pages.ui.charts.image_ground import CLASS_TOKENS, ImageGround
from pages.ui.words.numbers import percent
from pages.ui.words.place import said
from pages.ui.words.say import plain, say

_STYLE = """<style>
.re-facts {display: grid; gap: .7rem}
.re-label, .re-note {font-size: .8rem; opacity: .75; overflow-wrap: anywhere}
.re-value {font-size: 1.25rem; font-weight: 600; line-height: 1.25; overflow-wrap: anywhere}
</style>"""
_CLASSES = 3
Fact = tuple[str, str, str]
"""A label, a value, a note."""


def predicted_class(source: MapSource) -> str:
    """What the model takes the image for, in a sentence; empty where it tells no classes apart."""
    if not source.prediction:
        return ""
    label, probability = source.prediction[0]
    return said("finding_class", label=plain(label), probability=percent(probability))


def finding(source: MapSource, relevance: np.ndarray, summary: pd.Series | None) -> str:
    """What is to be seen in a map, in a few sentences."""
    ground, sentences = source.ground, [predicted_class(source)]
    if tokens := ground.class_tokens:
        cls = percent(ground.share(relevance, CLASS_TOKENS))
        patches = percent(float(ground.patches(relevance).sum()))
        sentences.append(said("finding_cls", tokens=tokens, cls=cls, patches=patches))
    if largest := _largest(ground, relevance):
        sentences.append(said("finding_patch", **largest))
    if mask := _of_summary(summary, "mask_share", "mask_chance"):
        sentences.append(said("finding_mask", **mask))
    return " ".join(filter(None, sentences))


def facts(source: MapSource, relevance: np.ndarray, summary: pd.Series | None) -> None:
    """The numbers of a map under each other."""
    cells = "".join(map(_markup, _facts(source, relevance, summary)))
    st.html(f'{_STYLE}<div class="re-facts">{cells}</div>')


def _facts(source: MapSource, relevance: np.ndarray, summary: pd.Series | None) -> Iterator[Fact]:
    ground = source.ground
    likeliest = [
        said("class_label", label=label, probability=percent(probability))
        for label, probability in source.prediction[:_CLASSES]
    ]
    if likeliest:
        yield said("class"), likeliest[0], say("list.comma").join(likeliest[1:])
    if tokens := ground.class_tokens:
        share = percent(ground.share(relevance, CLASS_TOKENS))
        yield said("fact_cls", tokens=tokens), share, said("fact_cls_note")
    if others := ground.other_special:
        share = percent(ground.share(relevance, others))
        yield said("fact_special"), share, say("list.comma").join(sorted(others))
    if largest := _largest(ground, relevance):
        yield said("fact_patch"), said("fact_times", **largest), said("fact_place", **largest)
    if top := _of_summary(summary, "top5_share"):
        n = int(np.ceil(0.05 * ground.n_patches))
        yield said("fact_top5"), top["top5_share"], said("fact_top5_note", n=n)
    if mask := _of_summary(summary, "mask_share", "mask_chance"):
        yield said("fact_mask"), mask["mask_share"], said("fact_mask_note", **mask)


def _markup(fact: Fact) -> str:
    label, value, note = map(escape, fact)
    return (
        f'<div><div class="re-label">{label}</div><div class="re-value">{value}</div>'
        f'<div class="re-note">{note}</div></div>'
    )


def _of_summary(summary: pd.Series | None, *names: str) -> dict[str, str]:
    """Shares that are kept of a map; nothing where the first of them is not."""
    if summary is None or pd.isna(summary[names[0]]):
        return {}
    return {name: percent(summary[name]) for name in names}


def _largest(ground: ImageGround, relevance: np.ndarray) -> dict[str, Any]:
    """Row and column of the most relevant patch, and its multiple of the even share."""
    patches = ground.patches(relevance)
    if not patches.sum() > 0:
        return {}
    row, column = divmod(int(patches.argmax()), ground.columns)
    times = float(patches.max() / patches.mean())
    return {"row": row + 1, "column": column + 1, "times": f"{times:.1f}"}
