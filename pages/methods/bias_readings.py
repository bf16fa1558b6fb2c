"""How much the reading of the bias matters in the chosen file: one table and its finding."""

import pandas as pd
import streamlit as st

from analysis.scopes import BIAS_READINGS
from analysis.tables.mixing import bias_reading
from pages.ui.figure import table
from pages.ui.store.chosen import Store, ask, chosen_file, readable
from pages.ui.words.numbers import percent, signed
from pages.ui.words.say import say


def bias_readings() -> None:
    """What the chosen file has of it; without a file, or without the statistic, that is said."""
    path = chosen_file()
    has_file = path is not None and isinstance(readable(path), Store)
    frame = ask(bias_reading.by_layer) if has_file else pd.DataFrame()
    if frame.empty:
        st.caption(say("methods.bias.absent"))
        return
    st.markdown(_finding(frame[frame["layer"].isna()].set_index("reading")))
    number = st.column_config.NumberColumn
    table(
        frame.assign(
            layer=[say("methods.bias.all") if each != each else str(int(each))
                   for each in frame["layer"]],
            name=frame["reading"].map(lambda each: say(f"methods.bias.{each}")),
        ),
        key="methods_bias_readings",
        question=say("methods.bias.question"),
        caption=say("methods.bias.caption", n=int(frame["n_sequences"].max())),
        columns={
            "layer": st.column_config.TextColumn(say("axis.layer"), width="small"),
            "name": say("methods.bias.reading"),
            "similarity": number(say("methods.bias.similarity"), format="%.3f"),
            "similarity_low": number(say("methods.bias.low"), format="%.3f"),
            "similarity_high": number(say("methods.bias.high"), format="%.3f"),
            "mixing_ratio": number(say("methods.bias.ratio"), format="%.3f"),
            "same_amplified": number(say("methods.bias.amplified"), format="%.1f"),
            "same_attenuated": number(say("methods.bias.attenuated"), format="%.1f"),
        },
        placeholder="—",
    )  # fmt: skip


def _finding(means: pd.DataFrame) -> str:
    """Similarity and ratio under each reading, and how many of the first pairs stay."""
    similarity, ratio = means["similarity"], means["mixing_ratio"]
    told = say(
        "methods.bias.finding",
        **{each: signed(similarity[each]) for each in BIAS_READINGS},
        **{f"{each}_ratio": percent(ratio[each]) for each in BIAS_READINGS},
    )
    same = means["same_amplified"]
    if same.isna().any():
        return told
    kept = say(
        "methods.bias.finding_pairs",
        constant=f"{same['constant']:.1f}",
        left_out=f"{same['left_out']:.1f}",
    )
    return f"{told} {kept}"
