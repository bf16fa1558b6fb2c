"""What is known about one head, on one card."""

import pandas as pd
import streamlit as st

from analysis.tables.norms import (
    attention_norm_correlation,
    singular_value,
    token_type_mixing,
    value_norm_dispersion,
)
from pages.ui.choices.pick import choose
from pages.ui.figure import table
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.names import token_type_name
from pages.ui.words.quantities import QUANTITIES, in_type_order, quantity_name
from pages.ui.words.say import say

CARD_TABLES = (
    attention_norm_correlation.TABLE,
    value_norm_dispersion.TABLE,
    singular_value.TABLE,
)


def head_card(layer: int, head: int) -> None:
    """Dispersion, stretch, and what each token type gets and gives. Parts that the file lacks are
    left out."""
    with st.container(border=True):
        numbers = {**_dispersion(layer, head), **_stretch(layer, head)}
        for place, (label, value) in zip(
            st.columns(max(len(numbers), 1)), numbers.items(), strict=False
        ):
            place.metric(say(f"attention_norms.card.{label}"), value)
        _types(layer, head)


def opened_head(layer: int, head: int) -> None:
    """The card of a head that was chosen in a map, and the way to its tokens."""
    head_card(layer, head)
    st.button(
        say("attention_norms.heads.to_head", layer=layer, head=head),
        on_click=choose,
        args=("an_view", "head"),
    )


def _dispersion(layer: int, head: int) -> dict[str, str]:
    row = _row(ask(value_norm_dispersion.by_head), layer, head)
    if row is None:
        return {}
    spread = "—" if pd.isna(row["cv"]) else f"{row['cv']:.2f}"
    return {"mean_norm": f"{row['mean']:.2f} ± {row['std']:.2f}", "cv": spread}


def _stretch(layer: int, head: int) -> dict[str, str]:
    row = _row(ask(singular_value.extremes), layer, head)
    if row is None:
        return {}
    return {"largest": f"{row['largest']:.2f}", "smallest": _short(row["smallest"])}


def _short(value: float) -> str:
    return f"{value:.2f}" if value >= 0.005 or value == 0 else f"{value:.0e}"


def _row(frame: pd.DataFrame, layer: int, head: int) -> pd.Series | None:
    found = frame[(frame["layer"] == layer) & (frame["head"] == head)]
    return None if found.empty else found.iloc[0]


def _types(layer: int, head: int) -> None:
    means = ask(token_type_mixing.of_head, layer=layer, head=head)
    if means.empty:
        return
    frame = means.pivot(index="token_type", columns="quantity", values="mean").reset_index()
    rho = ask(attention_norm_correlation.by_type, layer=layer, head=head)
    frame = frame.merge(rho, on="token_type", how="left")
    number = st.column_config.NumberColumn
    told = {name: number(quantity_name(name), format="%.4f") for name in QUANTITIES}
    if len(rho):
        told["spearman"] = number(say("attention_norms.rho"), format="%.3f")
        told["n"] = number(say("attention_norms.pairs"), format="localized")
    table(
        in_type_order(frame).assign(
            token_type=lambda each: each["token_type"].map(token_type_name)
        ),
        key="an_card_types",
        question=say("attention_norms.card.title", layer=layer, head=head),
        caption=say("attention_norms.card.caption", n_sequences=_sequences()),
        columns={"token_type": say("attention_norms.token_type"), **told},
        placeholder="—",
    )


def _sequences() -> str:
    return f"{open_store().run['n_sequences']:,}"
