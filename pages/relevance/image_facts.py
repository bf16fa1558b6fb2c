"""One map in words and numbers: class, share on [CLS], most relevant patch, mask."""

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from pages.relevance.map_source import MapSource
from pages.ui.charts.image_ground import CLASS_TOKENS, ImageGround
from pages.ui.words.numbers import percent
from pages.ui.words.say import plain, say

_STYLE = """<style>
.re-facts {display: grid; gap: .7rem}
.re-label, .re-note {font-size: .8rem; opacity: .75; overflow-wrap: anywhere}
.re-value {font-size: 1.25rem; font-weight: 600; line-height: 1.25; overflow-wrap: anywhere}
</style>"""
_CLASSES = 3
Fact = tuple[str, str, str]
"""A label, a value, a note."""


def finding(source: MapSource, relevance: Sequence[float], summary: pd.Series | None) -> None:
    """What is to be seen in a map, in a few sentences."""
    st.markdown(" ".join(_sentences(source, relevance, summary)))


def _sentences(
    source: MapSource, relevance: Sequence[float], summary: pd.Series | None
) -> Iterator[str]:
    ground = source.ground
    on_patches = percent(float(ground.patches(relevance).sum()))
    if prediction := source.prediction:
        label, probability = prediction[0]
        yield say("relevance.told_class", label=plain(label), probability=percent(probability))
    if names := ground.class_tokens:
        on_cls = percent(ground.share(relevance, CLASS_TOKENS))
        yield say("relevance.told_cls", tokens=names, cls=on_cls, patches=on_patches)
    if (patch := _largest(ground, relevance)) is not None:
        row, column, times = patch
        yield say("relevance.told_patch", row=row, column=column, times=f"{times:.1f}")
    if summary is not None and pd.notna(summary["mask_share"]):
        inside, chance = (percent(summary[each]) for each in ("mask_share", "mask_chance"))
        yield say("relevance.told_mask", inside=inside, chance=chance)


def facts(source: MapSource, relevance: Sequence[float], summary: pd.Series | None) -> None:
    """The numbers of a map under each other."""
    cells = "".join(map(_fact, _facts(source, relevance, summary)))
    st.html(f'{_STYLE}<div class="re-facts">{cells}</div>')


def _facts(
    source: MapSource, relevance: Sequence[float], summary: pd.Series | None
) -> Iterator[Fact]:
    ground = source.ground
    if prediction := source.prediction:
        (label, probability), *others = prediction[:_CLASSES]
        yield (
            say("relevance.class"),
            f"{label} · {percent(probability)}",
            say("list.comma").join(
                say("relevance.next_class", label=name, probability=percent(value))
                for name, value in others
            ),
        )
    if names := ground.class_tokens:
        share = percent(ground.share(relevance, CLASS_TOKENS))
        yield say("relevance.fact_cls", tokens=names), share, say("relevance.fact_cls_note")
    if others := ground.other_special:
        yield (
            say("relevance.fact_special"),
            percent(ground.share(relevance, others)),
            say("list.comma").join(sorted(others)),
        )
    if (patch := _largest(ground, relevance)) is not None:
        row, column, times = patch
        yield (
            say("relevance.fact_patch"),
            say("relevance.fact_times", times=f"{times:.1f}"),
            say("relevance.fact_place", row=row, column=column),
        )
    if summary is not None and pd.notna(summary["top5_share"]):
        yield (
            say("relevance.fact_top5"),
            percent(summary["top5_share"]),
            say("relevance.fact_top5_note", n=int(np.ceil(0.05 * ground.n_patches))),
        )
    if summary is not None and pd.notna(summary["mask_share"]):
        yield (
            say("relevance.fact_mask"),
            percent(summary["mask_share"]),
            say("relevance.fact_mask_note", chance=percent(summary["mask_chance"])),
        )


def _fact(fact: Fact) -> str:
    label, value, note = map(escape, fact)
    return (
        f'<div><div class="re-label">{label}</div><div class="re-value">{value}</div>'
        f'<div class="re-note">{note}</div></div>'
    )


def _largest(ground: ImageGround, relevance: Sequence[float]) -> tuple[int, int, float] | None:
    """Row and column of the most relevant patch, and its multiple of the even share."""
    patches = ground.patches(relevance)
    if not patches.sum() > 0:
        return None
    place = int(patches.argmax())
    times = float(patches[place] / patches.mean())
    return place // ground.columns + 1, place % ground.columns + 1, times
