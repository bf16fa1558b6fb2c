"""What the model of the open file does not have, said before anything is shown of it."""

import streamlit as st

from analysis.tables.corpus import token_type_counts
from pages.shared.store import ask, is_causal
from pages.shared.words import say

SPECIAL = ("cls", "sep")


def has_special() -> bool:
    """Whether the corpus, as the model reads it, has [CLS] or [SEP]."""
    return bool(ask(token_type_counts)["token_type"].isin(SPECIAL).any())


def absences() -> None:
    """Which tokens and pairs nobody should look for; nothing if all of them are there."""
    told = [
        say(f"absent.{name}")
        for name, absent in (("special", not has_special()), ("behind", is_causal()))
        if absent
    ]
    if told:
        st.caption(" ".join(told))
