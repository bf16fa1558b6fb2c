"""Findings for the overview on positions."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from analysis.statistics.positions import position_spectrum, score_share
from analysis.statistics.positions.head_offset import KERNEL
from pages.positions.offsets import (
    agreement_at_zero,
    agreement_of,
    agreement_of_dependent,
    agreement_words,
    beside_chance,
    heads_compared,
)
from pages.positions.spectra.embeddings import needed
from pages.positions.spectra.peaks import peaks, wave_words
from pages.positions.spectra.states import read, times_text, wave_of, with_ratio
from pages.ui.finding import Finding, rows_of
from pages.ui.store.chosen import ask, knows_offsets
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import say

_OF_POSITION = {"position": "value", "position_low": "low", "position_high": "high"}


def _claim() -> Iterator[Finding]:
    """Test the paper's claim over all heads and over the position-dependent ones.

    Heads that agree at offset 0, where nothing is shifted, are counted separately.
    """
    counting = KERNEL if knows_offsets() else "sum"  # as in the paper
    every = agreement_of(counting, 0.0)
    if every is None:
        return
    heads = heads_compared(counting)
    sentences = [
        say("finding.claim", n=count(every["n_heads"]), **agreement_words(every)),
        beside_chance(every),
        agreement_at_zero(heads[heads["dependence"] >= 0]),
        agreement_of_dependent(counting),
    ]
    ends = ("agreement", "agreement_low", "agreement_high")
    agreement, chance = (say(f"positions.claim.column.{name}") for name in ("agreement", "chance"))
    yield Finding(
        say("finding.label_claim"),
        percent(every["agreement"]),
        " ".join(filter(None, sentences)),
        "claim",
        rows_of([(agreement, *map(float, every[[*ends]])), (chance, float(every["chance"]))]),
        baseline=chance,
    )


def _states() -> Iterator[Finding]:
    """Compare the clearest wave in queries of the first layer with that in the last."""
    length = int(ask(position_spectrum.lengths)["length"].iloc[0])
    wave = wave_of(with_ratio(read(length, "max", controls=("compared", "removed"))))
    if wave is None:
        return
    before, after = (times_text(wave.times["query", layer]) for layer in (wave.first, wave.last))
    ends, name = {"first": wave.first, "last": wave.last}, say("finding.of_queries")
    times = [(layer, ratio) for (source, layer), ratio in wave.times.items() if source == "query"]
    yield Finding(
        say("finding.label_states", **ends),
        f"× {before} → × {after}",
        say("finding.states", **ends, before=before, after=after, **wave_words(wave.frequency)),
        "states",
        pd.DataFrame(times, columns=["layer", "value"]).assign(name=name, low=np.nan, high=np.nan),
        format=".1f",
        known_by=say("finding.states_known_by", n=count(wave.n)),
    )


def _embeddings() -> Iterator[Finding]:
    """Clearest wave of the position embeddings, and the components with 90% of their variance."""
    frame = ask(position_spectrum.spectra)
    frequencies = peaks(frame[frame["control"] == "kept"])
    variance = ask(position_spectrum.cumulative)
    if not frequencies or variance.empty:
        return
    clearest = wave_words(frequencies[0])
    yield Finding(
        say("finding.label_embeddings"),
        f"f = {clearest['frequency']}",
        say(
            "finding.embeddings", **clearest, most=needed(variance, 0.9), width=count(len(variance))
        ),
        "embeddings",
        rows_of((say("finding.of_wave", **wave_words(at)), at) for at in frequencies),
        format=".0f",
        known_by=say("finding.embeddings_known_by"),
    )


def _shares() -> Iterator[Finding]:
    """Share of the scores' variance due to position alone, in the first and the last layer."""
    layers = ask(score_share.by_layer)
    if layers.empty:
        return
    first, last = layers.iloc[0], layers.iloc[-1]
    most = layers.loc[layers["position"].idxmax()]
    ends = {"first": int(first["layer"]), "last": int(last["layer"])}
    before, after = percent(first["position"]), percent(last["position"])
    yield Finding(
        say("finding.label_shares", **ends),
        f"{before} → {after}",
        say(
            "finding.shares",
            **ends,
            before=before,
            after=after,
            layer=int(most["layer"]),
            **most[["position", "content"]].map(percent),
        ),
        "shares",
        layers.rename(columns=_OF_POSITION)[["layer", *_OF_POSITION.values()]].assign(
            name=say("positions.column.position")
        ),
        known_by=say("finding.shares_known_by"),
    )


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "offset_agreement": _claim,
    "score_share": _shares,
    "state_spectrum": _states,
    "embedding_spectrum": _embeddings,
}
