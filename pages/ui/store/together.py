"""Answers of one query for several values, or of a function of several files."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.run import Asked, run, within_part
from pages.ui.store.chosen import ask
from pages.ui.store.open_file import Store, Version


def ask_each(
    question: Callable[..., Any], name: str, values: Iterable[Any], **choices: Any
) -> pd.DataFrame:
    """Concatenate the answers for several values of one argument of a query.

    The value is a further column with the name of the argument.
    """
    answers = [
        ask(question, **{name: value}, **choices).assign(**{name: value}) for value in values
    ]
    return pd.concat(answers, ignore_index=True)


def ask_together(question: Callable[..., Any], *stores: Store, **choices: Any) -> Any:
    """Return the cached result of a function that queries files by `ask_store`.

    Args:
        question: takes the files, then the choices, and draws nothing.
    """
    versions = tuple(store.version for store in stores)
    name = f"{question.__module__}.{question.__qualname__}"
    answer, asked = _answer(versions, name, choices, question, stores)
    for store in asked.stores:
        run().asked.record(asked.queries, store)
    return answer


@st.cache_data(max_entries=256, max_size="64MB", show_spinner=False)
def _answer(
    versions: tuple[Version, ...],
    name: str,
    choices: dict[str, Any],
    _question: Callable[..., Any],
    _stores: tuple[Store, ...],
) -> tuple[Any, Asked]:
    """Return the answer and what was asked, which is recorded for cached answers too."""
    with within_part(asked=Asked()):
        return _question(*_stores, **choices), run().asked
