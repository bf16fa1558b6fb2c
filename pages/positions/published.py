"""The published numbers of this page: dimensions and peak of the embeddings, offsets of heads."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.published.numbers import Published
from analysis.published.positions import COMPONENTS, OFFSETS, PEAK, SHIFT
from pages.positions.spectra.peaks import UNIT
from pages.ui.published import Row, statistic_of
from pages.ui.words.say import say


def of_embeddings(variance: pd.DataFrame, peaks: Sequence[float]) -> list[Row]:
    """What the first components hold, and where the amplitude spectrum has its clearest peak."""
    cumulative = variance.set_index("component")["cumulative"]
    rows = []
    for number in COMPONENTS:
        name = say("positions.published.components", n=number.component)
        rows.append(Row(name, number, cumulative.get(number.component)))
    return [*rows, Row(say("positions.published.peak"), PEAK, peaks[0] if peaks else None)]


def of_heads(heads: pd.DataFrame, phases: pd.DataFrame) -> list[Row]:
    """The offsets at which queries and keys go together most, and the shift of one head's waves.

    Args:
        heads: layer, head, score_offset, from `head_offset.heads`.
        phases: phase, frequency, amplitude of the head whose shift is printed.
    """
    offsets = heads.set_index(["layer", "head"])["score_offset"]
    rows = [
        Row(_of_head("offset", number), number, offsets.get((number.layer, number.head)))
        for number in OFFSETS
    ]
    return [*rows, Row(_of_head("shift", SHIFT), SHIFT, _shift(phases))]


def _of_head(quantity: str, published: Published) -> str:
    where = say("published.head", layer=published.layer, head=published.head)
    return statistic_of(where, say(f"positions.published.{quantity}"))


def _shift(phases: pd.DataFrame) -> float | None:
    """Δ in tokens where the wave is highest; nothing where there is no wave."""
    highest = phases[phases["frequency"] > 0].nlargest(1, "amplitude")
    if highest.empty:
        return None
    phase, frequency = (float(highest[name].iloc[0]) for name in ("phase", "frequency"))
    return UNIT * phase / (2 * np.pi * frequency)
