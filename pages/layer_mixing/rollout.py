"""What has come together in a token after several layers, by whole layers and by weights alone."""

import pandas as pd
import streamlit as st

from analysis.tables.mixing import rollout
from analysis.tables.mixing.sequence_rollout import ATTENTION_ROLLOUT
from pages.layer_mixing.origins import by_distance, by_type, own_place
from pages.ui.about import about
from pages.ui.choices.pick import pick
from pages.ui.figure import table
from pages.ui.store.absences import SPECIAL
from pages.ui.store.chosen import ask, layer_order, require
from pages.ui.words.names import scope_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import say


def show() -> None:
    require(rollout.TABLE)
    st.header(say("layer_mixing.rollout.title"), anchor=False)
    st.markdown(say("layer_mixing.rollout.meaning"))
    scope = pick(
        "lm_rollout",
        say("layer_mixing.pick_scope"),
        layer_order().scopes,
        default=layer_order().whole,
        format=scope_name,
    )
    distances = _beside(rollout.by_distance, scope)
    types = _beside(rollout.by_token_type, scope)
    st.markdown(f"{_finding(distances, scope)} {_special(types, scope)}")
    for kind, draw, frame in (("distance", by_distance, distances), ("type", by_type, types)):
        draw(
            frame,
            (ATTENTION_ROLLOUT, scope),
            key=f"lm_rollout_{kind}_{scope}",
            caption=say(f"layer_mixing.rollout.caption_{kind}", scope=scope_name(scope)),
        )
    _table(distances, scope)
    about(rollout.TABLE)


def _beside(question, scope: str) -> pd.DataFrame:
    """The answer for attention rollout and for the scope, told apart by the column `scope`."""
    parts = [ask(question, scope=each).assign(scope=each) for each in (ATTENTION_ROLLOUT, scope)]
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(side=frame["scope"].map(scope_name))


def _finding(distances: pd.DataFrame, scope: str) -> str:
    ends = {
        name: own_place(distances, each).sort_values("layer").iloc[[0, -1]]
        for name, each in (("whole", scope), ("weights", ATTENTION_ROLLOUT))
    }
    first, last = (ends["whole"].iloc[place] for place in (0, 1))
    return say(
        "layer_mixing.rollout.finding",
        scope=scope_name(scope),
        first=percent(first["mean"]),
        last=percent(last["mean"]),
        layer=int(last["layer"]),
        weights=percent(ends["weights"].iloc[1]["mean"]),
    )


def _special(types: pd.DataFrame, scope: str) -> str:
    """What comes from special tokens after the last layer."""
    last = types[(types["layer"] == types["layer"].max()) & types["token_type"].isin(SPECIAL)]
    shares = last.groupby("scope")["mean"].sum()
    if shares.empty:
        return ""
    return say(
        "layer_mixing.rollout.finding_special",
        scope=scope_name(scope),
        last=percent(shares.get(scope, 0.0)),
        weights=percent(shares.get(ATTENTION_ROLLOUT, 0.0)),
    )


def _table(distances: pd.DataFrame, scope: str) -> None:
    """What is left of a token's own place, with intervals."""
    frame = pd.concat([own_place(distances, each) for each in (scope, ATTENTION_ROLLOUT)])
    number = st.column_config.NumberColumn
    table(
        frame.sort_values(["layer", "side"]),
        key=f"lm_rollout_table_{scope}",
        question=say("layer_mixing.rollout.table"),
        caption=say("layer_mixing.rollout.table_caption"),
        columns={
            "layer": number(say("axis.layer"), format="%d"),
            "side": say("layer_mixing.rollout.by"),
            "mean": number(say("layer_mixing.rollout.own"), format="%.4f"),
            "low": number(say("layer_mixing.low"), format="%.4f"),
            "high": number(say("layer_mixing.high"), format="%.4f"),
        },
    )
