"""How pairs are shown everywhere: changes in percentage points, relations in their colours."""

from collections.abc import Iterable
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.scopes import RELATIONS
from pages.ui.charts.colours import RELATION_COLOURS
from pages.ui.words.names import relation_name
from pages.ui.words.say import say

_NUMBERS = {
    "mean_delta": ("%+.2f", 92),
    "low": ("%+.2f", 78),
    "high": ("%+.2f", 78),
    "n": ("localized", 92),
    "n_sequences": ("localized", 80),
}


def points(share: float) -> str:
    """A change of a share in percentage points, with its sign."""
    return f"{100 * share:+.2f}".replace("-", "−")


def in_points(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with changes and their intervals in percentage points."""
    names = [each for each in ("mean_delta", "low", "high", "delta") if each in frame]
    return frame.assign(**{name: 100 * frame[name] for name in names})


def pair_name(source: str, target: str) -> str:
    """A pair as the papers write it: what is mixed in, and what receives it."""
    return f"{source} → {target}"


def pair_columns() -> dict[str, Any]:
    """Columns of a table of pairs."""
    return {
        "source": st.column_config.TextColumn(say("token_pairs.column.source"), width=88),
        "target": st.column_config.TextColumn(say("token_pairs.column.target"), width=88),
        **{
            name: st.column_config.NumberColumn(
                say(f"token_pairs.column.{name}"), format=form, width=width
            )
            for name, (form, width) in _NUMBERS.items()
        },
        "pmi": st.column_config.NumberColumn(
            "PMI", format="%.2f", width=70, help=say("token_pairs.pmi.what")
        ),
        "relation": st.column_config.TextColumn(say("token_pairs.column.relation"), width=190),
    }


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame in percentage points, with relations as a reader calls them."""
    return in_points(frame).assign(relation=frame["relation"].map(relation_name))


def zero_line() -> Any:
    """Where nothing changes."""
    return alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color="#808995")


def relation_colour(relations: Iterable[str], **legend: Any) -> alt.Color:
    """The colours of a column `relation` that holds the names which readers see.

    Args:
        relations: those that occur, as the file calls them.
        legend: how it stands.
    """
    found = set(relations)
    present = [each for each in RELATIONS if each in found]
    names = [relation_name(each) for each in present]
    scale = alt.Scale(domain=names, range=[RELATION_COLOURS[each] for each in present])
    shown = alt.Legend(labelLimit=260, **legend)
    return alt.Color("relation:N", title=None, scale=scale, legend=shown)
