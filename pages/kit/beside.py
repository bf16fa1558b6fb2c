"""B − A: a figure (A), the same one with another choice or file (B), and their difference."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.statistics.base.tables import Table
from pages.charts.layer_gaps import nodes, with_gaps
from pages.charts.plots import Rows
from pages.export.shown import Shown, sourced
from pages.kit.address import Choice, draw, value_of
from pages.kit.grammar import written
from pages.kit.items import Figure, Picked
from pages.kit.kinds import IS_CLEAR, Plot, value_said
from pages.services.chosen import other_stores
from pages.services.open_file import Store
from pages.words.columns import is_column, title_or_name
from pages.words.interval import is_clear
from pages.words.numbers import count
from pages.words.say import plain, say

_FILE, _SIDE = "file", "side"
_INPUTS = {"seq", "text", "sentence", "image", "token"}
"""Columns that select one input: positions in it have no counterpart in another."""
_LESS = "B − A"
_MOST = 12  # differences of a chart that has no panel of differences of its own
_WIDTH = 212  # pixels of one of three panels
_NARROW = 0.8  # of a page, below which panels are stacked
Rerun = Callable[[str, Mapping[str, str]], Figure | None]
"""A figure of the section as it is with some choices made otherwise; None if it has none then."""


@dataclass(frozen=True)
class Comparison:
    """Possible comparisons of one figure: the choices that can be changed, by their keys.

    `value` returns the value of a choice: by default the reader's.
    """

    name: str
    kind: Plot
    store: Store
    offers: Mapping[str, Picked]
    is_of_one_input: bool
    rerun: Rerun
    value: Callable[[Choice], Any] = value_of

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
        return bool(self.value(self.choice))

    def added_to(self, figure: Figure, share: float) -> Shown:
        """Add the comparison to the figure; requires a chosen option.

        Args:
            share: fraction of the page's width that is available.
        """
        key, _, chosen = str(self.value(self.choice)).partition("=")
        labels = self._name(key, self.offers[key].chosen), self._name(key, chosen)
        other = self.rerun(self.name, {key: chosen})
        if other is None or other.shown.frame.equals(figure.shown.frame):
            return _alone(figure, "same" if other else "not_there", labels[1])
        can_match = key != _FILE or not self.is_of_one_input or self._is_of_same_corpus(chosen)
        one, two = figure.shown.frame, other.shown.frame
        less = differences(one, two, self.kind) if can_match else two.head(0)
        if len(less) and not less[self.kind.value].any():
            if len(less) == max(len(one), len(two)):
                return _alone(figure, "same", labels[1])
            less = less.head(0)  # of marks that do not depend on the choice
        sides = {"A": one, "B": two, _LESS: less}
        frames = [frame.assign(**{_SIDE: side}) for side, frame in sides.items() if len(frame)]
        chart = _panels(self.kind, (figure, other), less, labels, in_row=share > _NARROW)
        combined = replace(
            figure.shown,
            chart=with_gaps(self.store, chart),
            frame=pd.concat(frames, ignore_index=True),
            finding=_finding(less, self.kind, labels),
            caption=f"{_caption(less, max(len(one), len(two)), labels)} {figure.shown.caption}",
        )
        return sourced(combined, figure.shown.asked | other.shown.asked)

    def _is_of_same_corpus(self, name: str) -> bool:
        """Return True if a file has the same corpus and number of sequences as the open one."""
        run = next(store.run for store in other_stores(self.store) if store.name == name)
        return all(self.store.run[fact] == run[fact] for fact in ("corpus", "n_sequences"))


def comparison_of(
    figure: Figure, store: Store, needs: Sequence[Table], rerun: Rerun
) -> Comparison | None:
    """Possible comparisons of a figure of a section; None for one without numbers by keys.

    A figure can be compared with other files that hold the section's tables, and with other options
    of the pickers that it depends on.

    Args:
        store: the open file.
        needs: tables without which the section has nothing to show.
        rerun: runs the section with other choices.
    """
    if figure.kind is None or not figure.kind.keys:
        return None
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
        figure.kind,
        store,
        {key: of for key, of in offers.items() if set(of.options) - {of.chosen}},
        is_of_one_input=any(of.column in _INPUTS for of in picked.values()),
        rerun=rerun,
    )


def differences(one: pd.DataFrame, other: pd.DataFrame, kind: Plot) -> pd.DataFrame:
    """Rows of the second minus those of the first, merged by the keys of a kind.

    The interval reaches from the nearest to the farthest ends of both. It holds for any dependence
    between the two, such as that of layers and heads on the same texts.

    Returns:
        Rows of the second with both numbers, and `IS_CLEAR`: True if the interval excludes 0,
        missing without one. No rows if a key occurs twice.
    """
    keys = [key for key in kind.keys if key in one and key in other]
    if one.duplicated(keys).any() or other.duplicated(keys).any():
        return other.head(0)
    both = other.merge(one, on=keys, suffixes=("", "_of_a"))
    less = both[list(other)].assign(**{kind.value: both[kind.value] - both[f"{kind.value}_of_a"]})
    less[IS_CLEAR] = pd.array([pd.NA] * len(less), dtype="boolean")
    low, high = kind.ends
    if {low, high} <= set(one) & set(other):
        less[low], less[high] = both[low] - both[f"{high}_of_a"], both[high] - both[f"{low}_of_a"]
        clear = is_clear(less[low], less[high]).astype("boolean")
        less[IS_CLEAR] = clear.where(less[low].notna() & less[high].notna())
    return less.dropna(subset=kind.value).reset_index(drop=True)


def _alone(figure: Figure, why: str, other: str) -> Shown:
    """Show why a figure has nothing beside it."""
    st.info(say(f"comparison.{why}", other=plain(other)))
    return figure.shown


def _panels(
    kind: Plot,
    pair: tuple[Figure, Figure],
    less: pd.DataFrame,
    labels: tuple[str, str],
    *,
    in_row: bool,
) -> Any:
    """Draw both figures on one scale, and their differences, if there are any, around 0."""
    alike, frames = kind.on_one_scale([of.shown.frame for of in pair])
    drawn = [
        alike.draw(frame, of.words, of.choices) for frame, of in zip(frames, pair, strict=True)
    ]
    drawn += [_change(kind, less, pair[0])] if len(less) else []
    titles = (f"A · {labels[0]}", f"B · {labels[1]}", _LESS)
    drawn = [_still(one).properties(title=of) for one, of in zip(drawn, titles, strict=False)]
    in_row = in_row and all(isinstance(one, alt.Chart | alt.LayerChart) for one in drawn)
    if in_row:
        drawn = [panel.properties(width=_WIDTH) for panel in drawn]
    together = alt.hconcat if in_row else alt.vconcat
    on_one_scale: dict[str, Any] = dict.fromkeys(kind.shared, "shared")
    both = together(*drawn[:2]).resolve_scale(**on_one_scale)
    return together(both, *drawn[2:]).resolve_scale(color="independent")


def _still(chart: Any) -> Any:
    """Chart without selections and names of views; two panels could not have the same ones."""
    for part in nodes(chart):
        for name in ("params", "name"):
            if hasattr(part, name):
                setattr(part, name, alt.Undefined)
    return chart


def _change(kind: Plot, less: pd.DataFrame, of: Figure) -> Any:
    """Draw differences by their kind, or else the largest of them as rows."""
    if signed := kind.signed():
        return signed.draw(less, of.words, of.choices)
    largest = less.reindex(less[kind.value].abs().nlargest(_MOST).index)
    largest = largest.assign(mark=[_place(row, kind) for row in largest.to_dict("records")])
    of_kind = {"value": kind.value, "format": kind.format, "ends": kind.ends}
    rows = Rows(y="mark", level=0.0, axis_word=kind.axis_word, **of_kind)
    return rows.draw(largest, "", of.choices)


def _finding(less: pd.DataFrame, kind: Plot, labels: tuple[str, str]) -> str:
    """Count the marks that differ clearly, and name the largest difference."""
    words: dict[str, Any] = {"one": plain(labels[0]), "other": plain(labels[1])}
    if less.empty:
        return say("comparison.unmatched", **words)
    known, clear = less[less[IS_CLEAR].notna()], less[less[IS_CLEAR].fillna(False)]
    among = clear if len(clear) else less
    row = among.loc[[among[kind.value].abs().idxmax()]].to_dict("records")[0]
    form, place = kind.format_of(row), _place(row, kind)
    words |= {
        "value": _signed(row[kind.value], form),
        "place": f" ({plain(place)})" if place else "",
    }
    if known.empty:
        return say("comparison.finding_without", n=count(len(less)), **words)
    if clear.empty:
        return say("comparison.finding_unclear", n=count(len(known)), **words)
    ends = zip(("low", "high"), kind.ends, strict=True)
    words |= {end: _signed(row[column], form) for end, column in ends}
    return say("comparison.finding", n=count(len(clear)), of=count(len(known)), **words)


def _signed(value: float, form: str) -> str:
    """Difference with its sign; shares differ by percentage points."""
    digits = form.lstrip(".~+")[:1]
    if not form.endswith("%"):
        return written([value], f"+{form.lstrip('+').replace('~', '')}")[0]
    points = written([100 * value], f"+.{digits if digits.isdigit() else 1}f")[0]
    return say("comparison.points", n=points)


def _place(row: Mapping[Any, Any], kind: Plot) -> str:
    """Keys of a row with their values, as text."""
    keys = [key for key in kind.keys if is_column(key) and pd.notna(row.get(key))]
    named = (f"{title_or_name(key)} {_value(key, row[key])}" for key in keys)
    return say("list.comma").join(named)


def _value(key: str, value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else value_said(key, value)


def _caption(less: pd.DataFrame, n: int, labels: tuple[str, str]) -> str:
    """Caption that explains the panels."""
    parts = [say("comparison.caption", one=plain(labels[0]), other=plain(labels[1]))]
    if len(less):
        parts.append(say("comparison.caption_less"))
        if less[IS_CLEAR].notna().any():
            parts.append(say("comparison.caption_interval"))
        if len(less) < n:
            parts.append(say("comparison.caption_lacking", n=count(len(less)), of=count(n)))
    return " ".join(parts)
