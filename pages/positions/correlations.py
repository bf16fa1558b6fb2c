"""The shift of queries against keys beside where attention leans (figure 7)."""

import streamlit as st

from analysis.tables.positions import query_key_correlation, query_key_wave
from analysis.tables.positions.head_offset import REACH
from pages.positions.correlation_chart import Peaks, correlation_chart
from pages.ui.choices.pick import pick
from pages.ui.figure import figure
from pages.ui.store.chosen import ask
from pages.ui.words.offsets import offset_told, pick_counting
from pages.ui.words.say import say

_REACHES = (10, 30, 64)
_COLUMNS = {
    "sum": ("value", "attention"),
    "per_pair": ("value_per_pair", "attention_per_pair"),
    "centred": ("value_centred", "attention"),
}


def show(layer: int, head: int, *, causal: bool) -> None:
    sums = ask(query_key_correlation.of_head, layer=layer, head=head)
    if sums.empty:
        st.info(say("positions_head.correlations.none"))
        return
    left, right = st.columns(2)
    with left:
        reach = _pick_reach()
    with right:
        counting = pick_counting()
    score, attention = _COLUMNS[counting]
    sums = sums.assign(score=sums[score], given=sums[attention]).dropna(subset=["score", "given"])
    waves = ask(query_key_wave.correlations, layer=layer, head=head, seq=None)
    waves = waves.dropna(subset="correlation")
    near = sums[sums["offset"].abs() <= REACH]
    peaks = Peaks(*(int(near.loc[near[each].idxmax(), "offset"]) for each in ("score", "given")))
    st.markdown(_finding(peaks))
    question = say("positions_head.correlations.question")
    domain = (-reach, 0 if causal else reach)
    shown = sums[sums["offset"].between(*domain)]
    figure(
        correlation_chart(
            waves[waves["offset"].between(*domain)],
            shown,
            peaks,
            domain=domain,
        ),
        key=f"po_correlations_{layer}_{head}_{reach}_{counting}",
        question=question,
        caption=say(
            "positions_head.correlations.caption",
            n=f"{int(sums['n_sequences'].max()):,}",
            window=REACH,
        ),
        frame=shown.drop(columns=["score", "given"]),
        alt=question,
    )


def _pick_reach() -> int:
    return pick(
        "po_reach",
        say("positions_head.correlations.reach"),
        _REACHES,
        default=30,
        format=lambda each: f"±{each}",
    )


def _finding(peaks: Peaks) -> str:
    agree = "same" if peaks.score == peaks.attention else "other"
    return say(
        f"positions_head.correlations.finding_{agree}",
        score=offset_told(peaks.score),
        attention=offset_told(peaks.attention),
    )
