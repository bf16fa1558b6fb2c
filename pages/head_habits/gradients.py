"""Which attention the loss depends on, by type of the token attended to (figure 3)."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from analysis.tables.heads import gradient_importance, sequence_gradient_importance
from pages.head_habits.head_choice import follow_click, opened_head
from pages.head_habits.layer_chart import layer_chart
from pages.ui.about import about
from pages.ui.charts.colours import TOKEN_TYPE_COLOURS
from pages.ui.choices.clicks import clickable
from pages.ui.choices.pick import pick
from pages.ui.head.habits import importance_shares
from pages.ui.store.chosen import ask, folder, open_store, require
from pages.ui.store.commands import run_command
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import plain, say

_CHART = "hh_gradients"
_MASKED = "masked_lm"
_RATE = 0.15


@dataclass(frozen=True)
class _Importance:
    """Means over the heads of a layer, single heads, and the loss that gradients are of."""

    means: pd.DataFrame
    heads: pd.DataFrame
    objective: str


def show() -> None:
    if not open_store().rows.get(gradient_importance.TABLE.name) and _is_unmasked():
        _offer_masking()
        return
    require(gradient_importance.TABLE)
    follow_click(_CHART)
    st.header(say("head_habits.gradients.title"), anchor=False)
    found = _read()
    st.markdown(say("head_habits.gradients.meaning"))
    st.markdown(say(f"head_habits.gradients.objective_{found.objective}"))
    st.markdown(_finding(found.means))
    scale = pick(
        "hh_scale",
        say("head_habits.gradients.scale"),
        ["linear", "log"],
        default="linear",
        format=lambda each: say(f"head_habits.gradients.scale_{each}"),
    )
    place = st.container()
    marked = opened_head()
    with place:
        _chart(found, scale=scale, marked=marked)
    about(gradient_importance.TABLE, sequence_gradient_importance.TABLE)


def _is_unmasked() -> bool:
    """Whether the model has a masked-language loss and the corpus not one masked token."""
    store = open_store()
    return store.facts.get("gradient_objective") == _MASKED and not store.run["mask_rate"]


def _offer_masking() -> None:
    st.header(say("head_habits.gradients.title"), anchor=False)
    store, missing = open_store(), [gradient_importance.TABLE.name]
    st.info(say("head_habits.gradients.unmasked", name=plain(store.name)))
    run = store.run.copy()
    run["mask_rate"] = _RATE
    path = folder() / f"{store.name.removesuffix('.duckdb')}-masked.duckdb"
    command = run_command(run, store.facts, path, statistics=missing)
    st.code(command, language="bash", wrap_lines=True)


def _read() -> _Importance:
    frame = ask(gradient_importance.by_layer).rename(columns={"importance": "mean"})
    order = {name: place for place, name in enumerate(reversed(TOKEN_TYPE_COLOURS))}
    frame = frame.assign(
        name=frame["token_type"].map(token_type_name), at=frame["token_type"].map(order)
    ).sort_values(["at", "layer"])
    frame = frame.drop(columns="at")
    of_heads = frame["head"].notna()
    heads = frame[of_heads].astype({"head": "int64"})
    return _Importance(frame[~of_heads], heads, str(frame["objective"].iloc[0]))


def _chart(found: _Importance, *, scale: str, marked: tuple[int, int]) -> None:
    present = [
        each for each in reversed(TOKEN_TYPE_COLOURS) if each in set(found.means["token_type"])
    ]
    parts = (found.means, found.heads)
    shown = [_positive(each) for each in parts] if scale == "log" else parts
    clickable(
        layer_chart(
            *shown,
            colours={token_type_name(each): TOKEN_TYPE_COLOURS[each] for each in present},
            y_title=say("head_habits.gradients.axis"),
            marked=marked,
            format=".2e",
            y_format=".2~g",
            y_scale=scale,
        ),
        _CHART,
        key=f"hh_gradients_{scale}_{marked[0]}_{marked[1]}",
        question=say("head_habits.gradients.question"),
        caption=say("head_habits.gradients.caption"),
        frame=pd.concat([found.means, found.heads], ignore_index=True),
    )


def _positive(frame: pd.DataFrame) -> pd.DataFrame:
    """What a logarithmic axis has a place for; an interval that reaches 0 ends at its mean."""
    frame = frame[frame["mean"] > 0]
    return frame.assign(low=frame["low"].where(frame["low"] > 0, frame["mean"]))


def _finding(means: pd.DataFrame) -> str:
    """Where importance lies, by type and by layer, and what of it the attention of a type has."""
    shares = importance_shares(means)
    told = say("list.comma").join(
        f"{token_type_name(str(kind))} {percent(share)}" for kind, share in shares.items()
    )
    total = means.groupby("layer")["mean"].sum()
    return say(
        "head_habits.gradients.finding",
        told=told,
        most=_layer_at(total, int(total.to_numpy().argmax())),
        least=_layer_at(total, int(total.to_numpy().argmin())),
    )


def _layer_at(by_layer: pd.Series, place: int) -> int:
    return int(by_layer.index.to_numpy()[place])
