"""Do rare words get more weight, or longer vectors, than frequent ones?"""

import pandas as pd
import streamlit as st

from analysis.tables.norms import frequency_correlation
from pages.ui.about import about
from pages.ui.charts.standard import bars
from pages.ui.choices.links import link_to_view
from pages.ui.figure import figure, table
from pages.ui.store.absences import has_special
from pages.ui.store.chosen import ask, require
from pages.ui.words.numbers import signed
from pages.ui.words.say import say


def show() -> None:
    require(frequency_correlation.TABLE)
    st.header(say("attention_norms.frequency.title"), anchor=False)
    st.markdown(say("attention_norms.frequency.sign"))
    frame = ask(frequency_correlation.correlations)
    if not has_special():  # then nothing is left out, and both are the same
        frame = frame[~frame["special_tokens"]]
    for source, part in frame.groupby("source", sort=False):
        _source(str(source), _named(part))
    _table(_named(frame))
    link_to_view("layer_mixing", "frequency", say("attention_norms.frequency.see_ratio"))
    about(frequency_correlation.TABLE)


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """With the words that a reader sees in place of the file's."""
    special = frame["special_tokens"].map(
        {
            True: say("attention_norms.frequency.with_special"),
            False: say("attention_norms.frequency.without_special"),
        }
    )
    return frame.assign(
        special=special,
        name=frame["quantity"].map(lambda each: say(f"attention_norms.frequency.{each}")),
        origin=frame["source"].map(lambda each: say(f"attention_norms.frequency.source_{each}")),
    )


def _source(source: str, frame: pd.DataFrame) -> None:
    known = frame.dropna(subset="spearman")
    question = say(f"attention_norms.frequency.question_{source}")
    if known.empty:
        st.info(say("attention_norms.frequency.nothing_varies"))
        return
    for row in known[~known["special_tokens"]].itertuples():
        st.markdown(_sentence(row))
    chart = bars(
        known,
        x="name",
        y="spearman",
        colour="special",
        low="low",
        high="high",
        x_title="",
        y_title=say("attention_norms.rho"),
        colour_title=" ",
    )
    figure(
        chart,
        key=f"an_frequency_{source}",
        question=question,
        caption=say("attention_norms.frequency.caption"),
        frame=known,
        alt=question,
    )


def _sentence(row) -> str:
    """What one correlation means in plain words."""
    who = "rare" if row.low > 0 else "frequent" if row.high < 0 else "unclear"
    return say(
        f"attention_norms.frequency.finding_{who}",
        quantity=row.name,
        rho=signed(row.spearman),
        low=signed(row.low),
        high=signed(row.high),
    )


def _table(frame: pd.DataFrame) -> None:
    number = st.column_config.NumberColumn
    told = {
        name: say(f"attention_norms.frequency.{name}") for name in ("origin", "name", "special")
    }
    table(
        frame,
        key="an_frequency_table",
        question=say("attention_norms.frequency.table"),
        caption=say("attention_norms.frequency.table_caption"),
        columns={
            **told,
            "spearman": number(say("attention_norms.rho"), format="%.3f"),
            "low": number(say("attention_norms.low"), format="%.3f"),
            "high": number(say("attention_norms.high"), format="%.3f"),
            "n": number(say("attention_norms.tokens"), format="localized"),
        },
        placeholder="—",
    )
