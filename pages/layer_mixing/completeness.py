"""Whether the vectors whose norms are stored add up to the model's own output."""

import pandas as pd
import streamlit as st

from analysis.error_limits import LIMITS
from analysis.tables.corpus import sequence_texts
from analysis.tables.mixing import completeness, layer_completeness
from pages.ui.about import about
from pages.ui.charts.error_chart import error_chart, worst_errors
from pages.ui.figure import figure, table
from pages.ui.store.chosen import ask, open_store, require
from pages.ui.words.numbers import scientific
from pages.ui.words.say import say


def show() -> None:
    require(completeness.TABLE, layer_completeness.TABLE)
    st.header(say("layer_mixing.completeness.title"), anchor=False)
    st.markdown(say("layer_mixing.completeness.meaning"))
    errors = worst_errors(ask(completeness.by_layer))
    limit = LIMITS[open_store().run["dtype"]]
    _verdict(errors, limit)
    question = say("layer_mixing.completeness.question")
    figure(
        error_chart(errors, limit),
        key="lm_completeness",
        question=question,
        caption=say("layer_mixing.completeness.caption", limit=scientific(limit)),
        frame=errors,
        alt=question,
    )
    _table(errors)
    about(completeness.TABLE, layer_completeness.TABLE)


def _verdict(errors: pd.DataFrame, limit: float) -> None:
    worst = errors.iloc[0]
    told = {
        "worst": scientific(worst["error"]),
        "limit": scientific(limit),
        "layer": worst["layer"],
        "part": worst["part"],
        "seq": worst["seq"],
        "pos": worst["pos"],
        "percentile": scientific(errors["percentile_99"].max(skipna=False)),
    }
    if worst["error"] <= limit:
        st.success(say("layer_mixing.completeness.yes", **told))
    else:
        st.warning(say("layer_mixing.completeness.no", **told))


def _table(errors: pd.DataFrame) -> None:
    """Every worst sequence, the worst of all first, with what stands in it."""
    texts = ask(sequence_texts, sequences=sorted({int(each) for each in errors["seq"]}))
    frame = errors.merge(texts, on="seq", how="left")
    number = st.column_config.NumberColumn
    table(
        frame,
        key="lm_completeness_table",
        question=say("layer_mixing.completeness.table"),
        caption=say("layer_mixing.completeness.table_caption"),
        columns={
            "layer": number(say("axis.layer"), format="%d", width="small"),
            "part": say("sound.part"),
            "error": number(say("sound.axis"), format="%.1e"),
            "percentile_99": number(say("sound.percentile"), format="%.1e"),
            "seq": number(say("layer_mixing.sequence"), format="%d", width="small"),
            "pos": number(say("layer_mixing.position"), format="%d", width="small"),
            "n_tokens": number(say("layer_mixing.tokens"), format="%d"),
            "text": st.column_config.TextColumn(say("layer_mixing.text"), width="large"),
        },
        height=318,
    )
