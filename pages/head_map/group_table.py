"""What is in each group of heads, as a table."""

import pandas as pd
import streamlit as st

from pages.ui.figure import table
from pages.ui.head.behaviours import behaviour_name, behaviours_of_heads, has_habits
from pages.ui.words.numbers import percent
from pages.ui.words.say import say


def group_table(leaves: pd.DataFrame, distances: pd.DataFrame, k: int, weighing: str) -> None:
    """One row per group.

    Args:
        leaves: rows layer, head, place, label, group.
        distances: rows group_a, group_b, mean_divergence of every two heads.
    """
    same = distances[distances["group_a"] == distances["group_b"]]
    within = same.groupby("group_a")["mean_divergence"].mean()
    done = (
        behaviours_of_heads(weighing=weighing)
        if has_habits()
        else leaves[["layer", "head"]].iloc[:0]
    )
    told = leaves.sort_values("place").merge(
        done, on=["layer", "head"], how="left", suffixes=("", "_done")
    )
    rows = [
        {
            "group": group,
            "n": len(part),
            "within": within.get(group),
            "layers": say("list.comma").join(map(str, sorted(part["layer"].unique()))),
            "mostly": _mostly(part),
            "heads": say("list.comma").join(part["label"]),
        }
        for group, part in told.groupby("group")
    ]
    number = st.column_config.NumberColumn
    columns = {
        "group": number(say("head_map.groups.group")),
        "n": number(say("head_map.groups.n")),
        "within": number(say("head_map.groups.within"), format="%.3f"),
        "layers": say("head_map.groups.layers"),
        "mostly": say("head_map.groups.mostly"),
        "heads": say("head_map.groups.heads"),
    }
    if not has_habits():
        columns.pop("mostly")
    table(
        pd.DataFrame(rows),
        key=f"hm_groups_{k}_{weighing}",
        question=say("head_map.groups.table"),
        caption=say("head_map.groups.table_caption"),
        columns=columns,
        placeholder="—",
    )


def _mostly(part: pd.DataFrame) -> str | None:
    """What most of a group's heads do, and how many of them."""
    if "behaviour" not in part or part["behaviour"].isna().all():
        return None
    counts = part["behaviour"].value_counts()
    share = percent(counts.iloc[0] / len(part))
    return say(
        "head_map.groups.mostly_told", name=behaviour_name(str(counts.index[0])), share=share
    )
