"""What of the positions is left in hidden states, queries and keys, layer by layer (figure 5)."""

import pandas as pd
import streamlit as st

from analysis.tables.corpus import sequence_lengths
from analysis.tables.positions import state_spectrum
from pages.positions.choices import pick_scale, told_frequency, told_period
from pages.positions.layer_choice import Chosen, pick_layer, pick_source
from pages.positions.layer_spectra import amplitude_maps, ratio_maps
from pages.positions.one_layer import one_layer
from pages.positions.spectra import AMOUNTS, Spectra, read
from pages.positions.states_of_files import states_of_files
from pages.positions.text_lengths import lengths_overlaid
from pages.positions.wave import Wave, told_times, wave_of
from pages.ui.about import about
from pages.ui.choices.pick import pick
from pages.ui.figure import figure
from pages.ui.store.chosen import ask, open_store, require
from pages.ui.words.numbers import count
from pages.ui.words.say import say

_SHORTEST = 16  # tokens of a text that has a spectrum
_CLEAR = 1.5  # times the amplitude without positions, below which nothing is claimed


def show() -> None:
    if not open_store().rows.get(state_spectrum.TABLE.name) and _all_short():
        st.info(say("positions.states.short", least=_SHORTEST))
        return
    require(state_spectrum.TABLE)
    st.header(say("positions.states.title"), anchor=False)
    lengths = ask(state_spectrum.lengths)
    length, amount = _pick(lengths)
    spectra = read(length, amount)
    ratio = spectra.ratio()
    st.markdown(_finding(wave_of(ratio)))
    st.markdown(say("positions.states.meaning"))
    _amplitudes(spectra)
    if not ratio.empty:
        _ratios(ratio, spectra)
    st.subheader(say("positions.layer.title"), anchor=False)
    layer, scale = pick_layer(), pick_scale()
    one_layer(spectra, layer, scale)
    chosen = Chosen(pick_source(), layer, amount, scale)
    states_of_files(chosen)
    lengths_overlaid(lengths, chosen)
    about(state_spectrum.TABLE)


def _all_short() -> bool:
    """Whether no text has the tokens that a spectrum needs."""
    return bool((ask(sequence_lengths)["n_tokens"] < _SHORTEST).all())


def _pick(lengths: pd.DataFrame) -> tuple[int, str]:
    """How long the texts are, and whether the strongest dimension counts or all of them."""
    sequences = dict(zip(lengths["length"].astype(int), lengths["n_sequences"], strict=True))
    length = pick(
        "po_length",
        say("positions.states.length"),
        sorted(sequences),
        default=int(lengths["length"].iloc[0]),
        format=lambda each: say(
            "positions.states.length_option", length=count(each), n=count(sequences[each])
        ),
        help=say("positions.states.length_help"),
    )
    amount = pick(
        "po_amount",
        say("positions.states.amount"),
        AMOUNTS,
        default="max",
        format=lambda each: say(f"positions.states.amount_{each}"),
        help=say("positions.states.amount_help"),
    )
    return length, amount


def _finding(wave: Wave | None) -> str:
    """How many times more of that wave there is with positions than without, first and last."""
    if wave is None:
        return say("positions.states.finding_unknown")
    query, end = wave.times["query", wave.first], wave.times["query", wave.last]
    kind = "none" if query < _CLEAR else "damped" if end < query else "kept"
    return say(
        f"positions.states.finding_{kind}",
        where=say(f"positions.states.wave_{'peak' if wave.of_embeddings else 'most'}"),
        frequency=told_frequency(wave.frequency),
        period=told_period(wave.frequency),
        hidden=told_times(wave.times["hidden", wave.first]),
        query=told_times(query),
        key=told_times(wave.times["key", wave.first]),
        end=told_times(end),
        first=wave.first,
        last=wave.last,
    )


def _amplitudes(spectra: Spectra) -> None:
    question = say("positions.states.question")
    kept = spectra.of("kept")
    figure(
        amplitude_maps(kept),
        key=f"po_states_{spectra.key}",
        question=question,
        caption=say(
            "positions.states.caption",
            length=count(spectra.length),
            longest=count(2 * spectra.length - 1),
            amount=say(f"positions.states.told_{spectra.amount}"),
        ),
        frame=kept,
        alt=question,
    )


def _ratios(ratio: pd.DataFrame, spectra: Spectra) -> None:
    question = say("positions.states.ratio_question")
    figure(
        ratio_maps(ratio),
        key=f"po_ratio_{spectra.key}",
        question=question,
        caption=say("positions.states.ratio_caption", n=count(spectra.n_controlled)),
        frame=ratio,
        alt=question,
    )
