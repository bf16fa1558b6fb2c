"""The best heads as a table: everything that table 1 of the paper tells, and how sure it is."""

from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.figure import table
from pages.ui.words.say import say


def best_table(shown: pd.DataFrame, *, key: str, chosen_on: str) -> None:
    """A row per relation; on halves also what the head got where it was chosen.

    Args:
        shown: rows of `dependency_best.best` with readable names.
    """
    table(
        shown,
        key=f"sy_best_{key}",
        question=say("syntax.best.question"),
        caption=say("syntax.best.caption"),
        columns=_columns(halves=chosen_on != "all"),
        placeholder="—",
    )


def _columns(*, halves: bool) -> dict[str, Any]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn

    def share(key: str) -> Any:
        return number(say(key), format="percent", width="small")

    chosen = {
        "n_chosen": number(say("syntax.best.n_chosen"), format="localized", width="small"),
        "accuracy_chosen": share("syntax.best.accuracy_chosen"),
    }
    return {
        "name": text(say("syntax.relation.label")),
        "layer": number(say("axis.layer"), format="%d", width="small"),
        "head": number(say("axis.head"), format="%d", width="small"),
        "direction_told": text(say("syntax.direction.label")),
        **(chosen if halves else {}),
        "n": number(say("syntax.n"), format="localized", width="small"),
        "accuracy": share("syntax.accuracy"),
        "low": share("syntax.low"),
        "high": share("syntax.high"),
        "offset": number(say("syntax.offset.best"), format="%+d", width="small"),
        "offset_accuracy": share("syntax.offset.accuracy"),
        "difference": share("syntax.difference"),
        "difference_low": share("syntax.difference_low"),
        "difference_high": share("syntax.difference_high"),
        "n_tried": number(say("syntax.best.n_tried"), format="localized", width="small"),
    }
