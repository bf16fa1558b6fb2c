"""Traces of positions in hidden states, queries and keys, layer by layer (figure 5)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.statistics.corpus import sequence_lengths
from analysis.statistics.positions import position_spectrum
from analysis.statistics.positions.position_spectrum import CONTROLS
from pages.positions.spectra.charts import (
    SCALES,
    SOURCES,
    amplitude_lines,
    amplitude_maps,
    layer_chart,
    ratio_maps,
    with_edges,
)
from pages.positions.spectra.comparisons import Chosen, in_all_lengths, in_several_files
from pages.positions.spectra.peaks import peaks, times, wave_words, with_period
from pages.ui.finding import Finding, Findings
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.numbers import count
from pages.ui.words.say import say
from pages.ui.words.scope import say_here

_BESIDE = ("compared", "removed", "permuted")
"""Controls of texts that were run again: unchanged, without and with shuffled positions."""
_AMOUNTS = ("max", "mean")
"""The strongest dimension, as in the paper, or the mean of all."""
_FORMS = {"map": amplitude_maps, "lines": amplitude_lines}
"""Forms of the paper's figure 5: a map of layers by frequencies, or a line per layer."""
_SHORTEST = 16  # tokens of a text that has a spectrum


@dataclass(frozen=True)
class Wave:
    """Amplitude of one frequency relative to that without positions.

    `times` holds the ratio by source and layer, `n` the number of texts; `of_embeddings` says
    whether the frequency is a peak of the position embeddings.
    """

    frequency: float
    of_embeddings: bool
    times: dict[tuple[str, int], float]
    first: int
    last: int
    n: int


def too_short(inquiry: Inquiry) -> str:
    """Say that no text is long enough for a spectrum; empty if one is."""
    held = inquiry.store.holds(position_spectrum.TABLE)
    if held or (inquiry.ask(sequence_lengths)["n_tokens"] >= _SHORTEST).any():
        return ""
    return say_here("short", least=_SHORTEST)


def _summary(inquiry: Inquiry) -> Findings:
    """Compare the clearest wave in queries of the first layer with that in the last."""
    length = int(inquiry.ask(position_spectrum.lengths)["length"].iloc[0])
    wave = _wave_of(inquiry, _with_ratio(_read(inquiry, length, "max", controls=_BESIDE[:2])))
    if wave is None:
        return
    before, after = (times(wave.times["query", layer]) for layer in (wave.first, wave.last))
    ends, name = {"first": wave.first, "last": wave.last}, say("finding.of_queries")
    ratios = [(layer, ratio) for (source, layer), ratio in wave.times.items() if source == "query"]
    yield Finding(
        say("finding.label_states", **ends),
        f"× {before} → × {after}",
        say("finding.states", **ends, before=before, after=after, **wave_words(wave.frequency)),
        pd.DataFrame(ratios, columns=["layer", "value"]).assign(name=name, low=np.nan, high=np.nan),
        baseline=1.0,
        format=".1f",
        known_by=say("finding.states_known_by", n=count(wave.n)),
    )


@section(
    "states",
    position_spectrum.TABLE,
    lacking=too_short,
    when=lambda store: store.adds_positions,
    findings=_summary,
)
def states(view: View) -> None:
    lengths = view.ask(position_spectrum.lengths)  # the commonest first
    names = {
        length: view.say("length_option", length=count(length), n=count(n))
        for length, n in sorted(lengths.itertuples(index=False, name=None))
    }
    length = view.pick("length", names, default=int(lengths["length"].iloc[0]))
    amount = view.pick("amount", _AMOUNTS)
    form = view.pick("form", tuple(_FORMS))
    spectra, state = _read(view, length, amount), f"{length}_{amount}"
    ratio = _with_ratio(spectra)
    view.finding(_finding(view, _wave_of(view, ratio)))
    kept = with_edges(spectra[spectra["control"] == "kept"])
    about = {
        "amount": view.say(f"amount_of_{amount}"),
        "length": count(length),
        "longest": count(2 * length - 1),
    }
    view.figure(
        "maps",
        kept,
        _FORMS[form](kept),
        state=f"{state}_{form}",
        caption=" ".join(view.say(f"{part}_caption", **about) for part in ("maps", form)),
    )
    if not ratio.empty:
        n = count(ratio["n_sequences"].max())
        ratio = with_edges(ratio)
        view.figure("ratio", ratio, ratio_maps(ratio), state=state, n=n)
    view.write("subheader", view.say("layer_title"), anchor=False)
    layer = view.pick("states_layer", view.store.layers, kind="select")
    scale = view.pick("scale", SCALES)
    _layer(view, spectra, layer, scale, state)
    chosen = Chosen(view.pick("source", SOURCES, default="query"), layer, amount, scale)
    in_several_files(view, chosen)
    in_all_lengths(view, names, chosen)


def _finding(view: View, wave: Wave | None) -> str:
    """Report the ratio of that wave with and without positions, in the first and the last layer."""
    if wave is None:
        return view.say("finding_unknown")
    return view.say(
        "finding",
        where=view.say(f"wave_{'peak' if wave.of_embeddings else 'most'}"),
        **{source: times(wave.times[source, wave.first]) for source in SOURCES},
        end=times(wave.times["query", wave.last]),
        first=wave.first,
        last=wave.last,
        n=count(wave.n),
        **wave_words(wave.frequency),
    )


def _layer(view: View, spectra: pd.DataFrame, layer: int, scale: str, state: str) -> None:
    """Draw a layer's spectrum, with those without positions and with shuffled positions.

    Without texts that were run again, only the spectrum itself is drawn.
    """
    n = spectra.loc[spectra["control"] == "compared", "n_sequences"].max()
    again = pd.notna(n)  # texts were run without their positions too
    controls = _BESIDE if again else ("kept",)
    frame = spectra[spectra["control"].isin(controls) & (spectra["layer"] == layer)]
    view.figure(
        "layer",
        frame,
        layer_chart(frame[frame["amplitude"] > 0], scale),
        state=f"{layer}_{scale}_{state}",
        caption=view.say("layer_caption", n=count(n)) if again else view.say("layer_alone"),
        layer=layer,
    )


def _read(
    inquiry: Inquiry, length: int, amount: str, *, controls: tuple[str, ...] = CONTROLS
) -> pd.DataFrame:
    """Spectra of hidden states, queries and keys of every layer, for texts of one length.

    Returns:
        control, source, layer, frequency, period, amplitude, n_sequences.
    """
    parts = [
        inquiry.ask_each(
            position_spectrum.by_layer, "control", controls, source=source, length=length
        )
        for source in SOURCES
    ]
    every = pd.concat(parts, keys=SOURCES, names=["source"]).reset_index("source")
    frame = with_period(every.reset_index(drop=True)).rename(columns={amount: "amplitude"})
    columns = ["control", "source", "layer", "frequency", "period", "amplitude", "n_sequences"]
    return frame.loc[frame["amplitude"].notna(), columns]


def _with_ratio(spectra: pd.DataFrame) -> pd.DataFrame:
    """Divide amplitudes by those of the same texts without positions; rows with a 0 are dropped."""
    keys = ["source", "layer", "frequency", "period"]
    with_them, without = (spectra[spectra["control"] == control] for control in _BESIDE[:2])
    both = with_them.merge(without, on=keys, suffixes=("", "_removed"))
    both = both[(both["amplitude_removed"] > 0) & (both["amplitude"] > 0)]
    return both.assign(ratio=both["amplitude"] / both["amplitude_removed"])


def _wave_of(inquiry: Inquiry, ratio: pd.DataFrame) -> Wave | None:
    """Clearest peak of the position embeddings, or else the frequency with the largest ratio.

    That ratio is of queries in the first layer. None if no ratio is known.

    Args:
        ratio: source, layer, frequency, ratio, n_sequences.
    """
    queries = ratio[ratio["source"] == "query"]
    if queries.empty:
        return None
    of_embeddings = []
    if inquiry.store.holds(position_spectrum.EMBEDDINGS):
        spectra = inquiry.ask(position_spectrum.spectra)
        of_embeddings = peaks(spectra[spectra["control"] == "kept"])
    first, last = (int(layer) for layer in queries["layer"].agg(["min", "max"]))
    at_first = queries[queries["layer"] == first].set_index("frequency")["ratio"]
    at = of_embeddings[0] if of_embeddings else at_first.idxmax()
    nearest = float(min(at_first.index, key=lambda frequency: abs(frequency - at)))
    there = ratio[np.isclose(ratio["frequency"], nearest)]
    places = zip(there["source"], there["layer"], strict=True)
    times = dict(zip(places, there["ratio"], strict=True))
    n = int(there["n_sequences"].max())
    return Wave(nearest, bool(of_embeddings), times, first, last, n)
