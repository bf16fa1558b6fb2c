"""Statements and numbers on one map: class, share on [CLS], most relevant patch, mask."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from pages.relevance.maps.source import MapSource
from pages.ui.charts.image_ground import CLASS_TOKENS, ImageGround
from pages.ui.fact_grid import Fact
from pages.ui.words.numbers import percent
from pages.ui.words.say import plain, say
from pages.ui.words.scope import say_here

_CLASSES = 3


def predicted_class(source: MapSource) -> str:
    """Sentence on the predicted class; empty for a model without classes."""
    if not source.prediction:
        return ""
    label, probability = source.prediction[0]
    return say_here("finding_class", label=plain(label), probability=percent(probability))


def finding(source: MapSource, relevance: np.ndarray, summary: pd.Series | None) -> str:
    """Describe a map in a few sentences."""
    ground, sentences = source.ground, [predicted_class(source)]
    if tokens := ground.class_tokens:
        cls = percent(ground.share(relevance, CLASS_TOKENS))
        patches = percent(float(ground.patches(relevance).sum()))
        sentences.append(say_here("finding_cls", tokens=tokens, cls=cls, patches=patches))
    if largest := _largest(ground, relevance):
        sentences.append(say_here("finding_patch", **largest))
    if mask := _of_summary(summary, "mask_share", "mask_chance"):
        sentences.append(say_here("finding_mask", **mask))
    return " ".join(filter(None, sentences))


def facts(source: MapSource, relevance: np.ndarray, summary: pd.Series | None) -> Iterator[Fact]:
    """Yield the numbers of a map."""
    ground = source.ground
    likeliest = [
        say_here("class_label", label=label, probability=percent(probability))
        for label, probability in source.prediction[:_CLASSES]
    ]
    if likeliest:
        yield Fact(say_here("class"), likeliest[0], say("list.comma").join(likeliest[1:]))
    if tokens := ground.class_tokens:
        share = percent(ground.share(relevance, CLASS_TOKENS))
        yield Fact(say_here("fact_cls", tokens=tokens), share, say_here("fact_cls_note"))
    if others := ground.other_special:
        share = percent(ground.share(relevance, others))
        yield Fact(say_here("fact_special"), share, say("list.comma").join(sorted(others)))
    if largest := _largest(ground, relevance):
        times = say_here("fact_times", **largest)
        yield Fact(say_here("fact_patch"), times, say_here("fact_place", **largest))
    if top := _of_summary(summary, "top5_share"):
        n = int(np.ceil(0.05 * ground.n_patches))
        yield Fact(say_here("fact_top5"), top["top5_share"], say_here("fact_top5_note", n=n))
    if mask := _of_summary(summary, "mask_share", "mask_chance"):
        yield Fact(say_here("fact_mask"), mask["mask_share"], say_here("fact_mask_note", **mask))


def _of_summary(summary: pd.Series | None, *names: str) -> dict[str, str]:
    """Format stored shares of a map; empty if the first of them is missing."""
    if summary is None or pd.isna(summary[names[0]]):
        return {}
    return {name: percent(summary[name]) for name in names}


def _largest(ground: ImageGround, relevance: np.ndarray) -> dict[str, Any]:
    """Row and column of the most relevant patch, and its multiple of an even share."""
    patches = ground.patches(relevance)
    if not patches.sum() > 0:
        return {}
    row, column = divmod(int(patches.argmax()), ground.columns)
    times = float(patches.max() / patches.mean())
    return {"row": row + 1, "column": column + 1, "times": f"{times:.1f}"}
