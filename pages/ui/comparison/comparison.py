"""Comparison of a figure (A) with the same figure for another layer, head or file (B)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from analysis.statistics.table import Table
from pages.ui.choices.address import Choice, draw, value_of
from pages.ui.comparison.difference import Differences, are_same, differences
from pages.ui.comparison.panels import panels
from pages.ui.comparison.sentences import caption_of, finding_of
from pages.ui.export.files import with_data
from pages.ui.export.shown import Shown, sourced
from pages.ui.items import Figure, Picked
from pages.ui.store.chosen import other_stores
from pages.ui.store.open_file import Store
from pages.ui.words.columns import is_column
from pages.ui.words.say import plain, say

_FILE, _SIDE = "file", "side"
_INPUTS = {"seq", "text", "sentence", "image", "token"}
"""Columns that select one input: positions in it have no counterpart in another."""
_LESS = "B − A"
Rerun = Callable[[str, Mapping[str, str]], Figure | None]
"""A figure of the section as it is with some choices made otherwise; None if it has none then."""


@dataclass(frozen=True)
class Comparison:
    """Possible comparisons of one figure: the choices that can be changed, by their keys."""

    name: str
    store: Store
    offers: Mapping[str, Picked]
    is_of_one_input: bool
    rerun: Rerun

    @property
    def choice(self) -> Choice:
        """Choice of a key and an option of it; empty by default."""
        options = [
            f"{key}={option}"
            for key, of in self.offers.items()
            for option in of.options
            if option != of.chosen
        ]
        return Choice(f"{self.name}_beside", ["", *options], "")

    def label(self, option: str) -> str:
        """Display name of an option of the choice."""
        key, _, chosen = option.partition("=")
        if not key:
            return say("comparison.nothing")
        of = self.offers[key]
        return f"{of.label}: {of.options.get(chosen, chosen)}"

    def _name(self, key: str, chosen: str) -> str:
        """Display name of an option alone; a number is preceded by the label of its picker."""
        of = self.offers[key]
        name = of.options.get(chosen, chosen)
        return f"{of.label} {name}" if name.isdecimal() else name

    def pick(self) -> None:
        """Draw the picker of the comparison, in a popover below the figure."""
        choice = self.choice
        settings: dict[str, Any] = {"key": choice.key, "format_func": self.label}
        with st.popover(_LESS, type="tertiary", help=say("comparison.help")):
            draw(choice, lambda: st.selectbox(say("comparison.label"), choice.options, **settings))

    @property
    def is_chosen(self) -> bool:
        return bool(value_of(self.choice))

    def added_to(self, shown: Shown, share: float) -> Shown:
        """Add the comparison to the figure; requires a chosen option.

        Args:
            share: fraction of the page's width that is available.
        """
        key, _, chosen = str(value_of(self.choice)).partition("=")
        labels = self._name(key, self.offers[key].chosen), self._name(key, chosen)
        other = self.rerun(self.name, {key: chosen})
        if other is None:
            st.info(say("comparison.not_there", other=plain(labels[1])))
            return shown
        can_match = key != _FILE or not self.is_of_one_input or self._is_of_same_corpus(chosen)
        return _added(shown, other.shown, labels, can_match=can_match, share=share)

    def _is_of_same_corpus(self, name: str) -> bool:
        """Return True if a file has the same corpus and number of sequences as the open one."""
        others = other_stores(self.store)
        run = next(store.run for store in others if store.name == name)
        return all(self.store.run[fact] == run[fact] for fact in ("corpus", "n_sequences"))


def comparison_of(figure: Figure, store: Store, needs: Sequence[Table], rerun: Rerun) -> Comparison:
    """Possible comparisons of a figure of a section.

    A figure can be compared with other files that hold the section's tables, and with other options
    of the pickers that it depends on.

    Args:
        store: the open file.
        needs: tables without which the section has nothing to show.
        rerun: runs the section with other choices.
    """
    alike = [
        other
        for other in other_stores(store)
        if other.facts["input"] == store.facts["input"] and other.holds(*needs)
    ]
    files = {file.name: file.label for file in (store, *alike)}
    picked = figure.picked
    offers = {_FILE: Picked(_FILE, say("store.file"), files, store.name)}
    offers |= {
        key: of for key, of in picked.items() if is_column(of.column) and of.column not in _INPUTS
    }
    return Comparison(
        figure.name,
        store,
        {key: of for key, of in offers.items() if set(of.options) - {of.chosen}},
        is_of_one_input=any(of.column in _INPUTS for of in picked.values()),
        rerun=rerun,
    )


def _added(
    shown: Shown, other: Shown, labels: tuple[str, str], *, can_match: bool, share: float
) -> Shown:
    """Combine both figures, with their difference if their marks correspond."""
    first, second = with_data(shown.chart), with_data(other.chart)
    if are_same(first, second):
        st.info(say("comparison.same", other=plain(labels[1])))
        return shown
    changes = differences(first, second) if can_match else {}
    titles = f"A · {labels[0]}", f"B · {labels[1]}", _LESS
    combined = replace(
        shown,
        chart=panels(first, second, changes, titles, share=share),
        frame=_frame(shown.frame, other.frame, changes),
        finding=finding_of(first, changes, labels),
        caption=f"{caption_of(changes, labels)} {shown.caption}",
    )
    return sourced(combined, shown.asked | other.asked)


def _frame(
    one: pd.DataFrame, other: pd.DataFrame, changes: Mapping[str, Differences]
) -> pd.DataFrame:
    """Data of all panels, with the panel of each row."""
    less = pd.DataFrame([row for change in changes.values() for row in change.rows])
    less = less[[name for name in one if name in less]]
    sides = {"A": one, "B": other, _LESS: less}
    frames = [frame.assign(**{_SIDE: side}) for side, frame in sides.items() if len(frame)]
    return pd.concat(frames, ignore_index=True)
