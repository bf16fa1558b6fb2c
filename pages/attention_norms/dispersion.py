"""How much ‖f(x)‖ varies, and how much of that was already there in ‖x‖ (tables 1 and 2)."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.norms import input_norm_dispersion, value_norm_dispersion
from pages.attention_norms.head_card import CARD_TABLES, opened_head
from pages.attention_norms.head_choice import follow_click, pick_norms_head
from pages.attention_norms.published import dispersions
from pages.ui.about import about
from pages.ui.charts.head_map import from_zero, head_map
from pages.ui.charts.standard import lines
from pages.ui.choices.clicks import clickable
from pages.ui.figure import figure, table
from pages.ui.published import beside
from pages.ui.store.chosen import ask, require
from pages.ui.words.say import say

_CHART = "cv"
_PLACES = ("largest", "smallest")
_STATISTICS = ("mean", "std", "cv", "max", "min")


def show() -> None:
    require(value_norm_dispersion.TABLE, input_norm_dispersion.TABLE)
    follow_click(_CHART)
    st.header(say("attention_norms.dispersion.title"), anchor=False)
    heads, inputs = ask(value_norm_dispersion.by_head), ask(input_norm_dispersion.by_layer)
    st.markdown(_finding(_pooled(heads), _pooled(inputs)))
    _extreme_heads(heads)
    _extreme_layers(inputs)
    beside(
        *dispersions(heads, inputs), key="an_published_norms", title=say("published.title_norms")
    )
    _by_layer(heads, inputs)
    each = heads.dropna(subset="layer").astype({"layer": "int64", "head": "int64"})
    _map(each)
    _all_heads(each)
    about(input_norm_dispersion.TABLE, *CARD_TABLES)


def _pooled(frame: pd.DataFrame) -> pd.Series:
    return frame[frame["layer"].isna()].iloc[0]


def _finding(values: pd.Series, inputs: pd.Series) -> str:
    """The paper's argument in one sentence: does f spread lengths more than its input does?"""
    direction = "more" if values["cv"] > inputs["cv"] else "less"
    return say(
        f"attention_norms.dispersion.finding_{direction}",
        values=f"{values['cv']:.2f}",
        inputs=f"{inputs['cv']:.2f}",
        per_head=f"{ask(value_norm_dispersion.mean_cv):.2f}",
        low=f"{1 - values['cv']:.2f}",
        high=f"{1 + values['cv']:.2f}",
    )


def _extremes(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with the largest and the smallest CV, and the pooled one: what the paper shows."""
    each = frame.dropna(subset=["layer", "cv"])
    chosen = frame.loc[[each["cv"].idxmax(), each["cv"].idxmin(), _pooled(frame).name]]
    return chosen.reset_index(drop=True)


def _extreme_heads(heads: pd.DataFrame) -> None:
    frame = _extremes(heads)
    names = [
        say(f"attention_norms.dispersion.head_{place}", layer=f"{layer:.0f}", head=f"{head:.0f}")
        for place, layer, head in zip(_PLACES, frame["layer"], frame["head"], strict=False)
    ]
    _paper_table(frame, "heads", [*names, say("attention_norms.dispersion.all_heads")])


def _extreme_layers(inputs: pd.DataFrame) -> None:
    frame = _extremes(inputs)
    names = [
        say(f"attention_norms.dispersion.layer_{place}", layer=f"{layer:.0f}")
        for place, layer in zip(_PLACES, frame["layer"], strict=False)
    ]
    _paper_table(frame, "inputs", [*names, say("attention_norms.dispersion.all_layers")])


def _paper_table(frame: pd.DataFrame, name: str, rows: list[str]) -> None:
    table(
        frame.assign(which=rows),
        key=f"an_dispersion_{name}",
        question=say(f"attention_norms.dispersion.table_{name}"),
        caption=say(f"attention_norms.dispersion.table_{name}_caption"),
        columns={"which": say(f"attention_norms.dispersion.which_{name}"), **_columns()},
        placeholder="—",
    )


def _columns() -> dict[str, Any]:
    return {
        name: st.column_config.NumberColumn(
            say(f"attention_norms.dispersion.{name}"), format="%.2f", width="small"
        )
        for name in _STATISTICS
    }


def _by_layer(heads: pd.DataFrame, inputs: pd.DataFrame) -> None:
    """CV of the input of each layer beside the mean, least and greatest CV of its heads."""
    of_heads = heads.dropna(subset=["layer", "cv"]).groupby("layer")["cv"]
    spread = of_heads.agg(cv="mean", low="min", high="max").reset_index()
    of_inputs = inputs.dropna(subset=["layer", "cv"])[["layer", "cv"]]
    of_inputs = of_inputs.assign(low=of_inputs["cv"], high=of_inputs["cv"])
    frame = pd.concat(
        [
            spread.assign(of=say("attention_norms.dispersion.of_values")),
            of_inputs.assign(of=say("attention_norms.dispersion.of_inputs")),
        ]
    )
    frame["layer"] = frame["layer"].astype("int64")
    chart = lines(
        frame,
        x="layer",
        y="cv",
        colour="of",
        low="low",
        high="high",
        x_title=say("axis.layer"),
        y_title=say("attention_norms.dispersion.cv_axis"),
        colour_title=" ",
    )
    figure(
        chart,
        key="an_cv_layers",
        question=say("attention_norms.dispersion.layers"),
        caption=say("attention_norms.dispersion.layers_caption"),
        frame=frame,
        alt=say("attention_norms.dispersion.layers"),
    )


def _map(heads: pd.DataFrame) -> None:
    """The CV of every head, and the card of the one that is chosen."""
    place = st.container()
    marked = pick_norms_head()
    with place:
        chart = head_map(
            heads,
            "cv",
            say("attention_norms.dispersion.cv_axis"),
            from_zero(float(heads["cv"].max())),
            format=".3f",
            marked=marked,
        )
        clickable(
            chart,
            _CHART,
            key=f"an_cv_{marked[0]}_{marked[1]}",
            question=say("attention_norms.dispersion.map"),
            caption=say("attention_norms.dispersion.map_caption"),
            frame=heads,
        )
    opened_head(*marked)


def _all_heads(heads: pd.DataFrame) -> None:
    number = st.column_config.NumberColumn
    table(
        heads.sort_values("cv", ascending=False),
        key="an_dispersion_all",
        question=say("attention_norms.dispersion.all"),
        caption=say("attention_norms.dispersion.all_caption"),
        columns={
            "layer": number(say("axis.layer"), width="small"),
            "head": number(say("axis.head"), width="small"),
            **_columns(),
            "n": number(say("attention_norms.tokens"), format="localized"),
        },
        placeholder="—",
    )
