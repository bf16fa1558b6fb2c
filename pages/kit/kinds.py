"""Kinds of charts: each draws the rows of a figure, by columns that it names."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import pandas as pd

from pages.kit.links import link_to_sequence
from pages.kit.published_table import Row, show_published
from pages.kit.section import Choices, Figure
from pages.words.columns import NAMES, title, value_name
from pages.words.quantities import in_type_order
from pages.words.scope import optional_word

if TYPE_CHECKING:
    from pages.kit.view import View

IS_CLEAR = "is_clear"
"""Column of differences that says which intervals exclude 0; missing without one."""
ENDS = ("low", "high")


@dataclass(frozen=True, kw_only=True)
class Kind(ABC):
    """Way to show the rows of a figure."""

    @abstractmethod
    def show(
        self, view: "View", figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        """Record a figure of a section; `said` fills its words."""


@dataclass(frozen=True, kw_only=True)
class Plot(Kind):
    """Chart of the column `value`, whose ends are the columns `ends` where the rows have them.

    `format` is that of the value, in the notation of both Python and D3. `axis_word` is the title
    of its axis in place of the word `NAME_axis`, and may name choices: `axis_{weighing}`.
    """

    value: str = "mean"
    format: str = ".3f"
    ends: tuple[str, str] = ENDS
    axis_word: str = ""
    height: int = 300
    width: Literal["stretch", "content"] = "stretch"

    @abstractmethod
    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        """Chart of the rows of a figure whose words begin with `name`."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that identify a mark; without them, B − A is not offered."""
        return ()

    @property
    def shared(self) -> tuple[str, ...]:
        """Channels that two charts of the kind have on one scale."""
        return ("y", "color")

    def signed(self) -> "Plot | None":
        """Kind for differences around 0; None if it cannot draw them."""
        return None

    def on_one_scale(self, frames: list[pd.DataFrame]) -> tuple["Plot", list[pd.DataFrame]]:
        """Kind and rows of charts whose colours mean the same in each."""
        return self, frames

    def format_of(self, row: Mapping[Any, Any]) -> str:
        """Format of the number of a row."""
        return self.format

    def headings(self, name: str, choices: Choices) -> dict[str, tuple[str, bool]]:
        """Titles of the numbers in exports, and whether they are in per cent."""
        in_percent = self.format.endswith("%")
        return {self.value: (self.title(name, choices), in_percent)} | dict.fromkeys(
            ENDS, ("", in_percent)
        )

    def show(
        self, view: "View", figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        name = figure.words(choices)
        view.figure(
            name,
            frame,
            self.draw(frame, name, choices),
            width=self.width,
            drawn_by=self,
            chosen=choices,
            **{**said, "weighing": choices.get("weighing", "weight")},
            **figure.options(view.key, frame, choices, said),
        )

    def axis(self, name: str, **more: Any) -> alt.Axis:
        """Axis of the value."""
        form = "~%" if self.format.endswith("%") else ".6~g"
        return alt.Axis(format=form, tickCount=6, **more)

    def title(self, name: str, choices: Choices | None = None) -> str:
        """Title of the axis of the value."""
        filled = choices or {}
        word = self.axis_word.format_map(filled) or f"{name}_axis"
        return optional_word(word, **filled) or title(self.value)


Colours = Mapping[Any, str] | Callable[[Choices], Mapping[Any, str]] | None
"""Colours of values, which may depend on choices."""


def named(
    frame: pd.DataFrame, column: str | None, colours: Colours, choices: Choices | None = None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Rows with display names in the column of colours, and arguments for their colours.

    The words `COLUMN_VALUE` name values that have no names on all pages; with `colours`, these are
    the values that are drawn, in their order.
    """
    colours = colours(choices or {}) if callable(colours) else colours
    if column is None or (column in NAMES and colours is None):
        return frame, {"colour": column}
    if colours is not None:
        frame = frame[frame[column].isin(list(colours))]
    names = {value: value_said(column, value) for value in colours or dict.fromkeys(frame[column])}
    given = {names[value]: colour for value, colour in colours.items()} if colours else None
    frame = frame.assign(**{column: frame[column].map(names)})
    return frame, {"colour": column, "colours": given, "colour_title": " "}


def value_said(column: str, value: Any) -> str:
    """Display name of a value: the word `COLUMN_VALUE`, or else that of its column."""
    return optional_word(f"{column}_{value}") or value_name(column, value)


@dataclass(frozen=True, kw_only=True)
class Custom(Plot):
    """Chart by a function of the rows, the name of the words, and the choices.

    `marks` are the columns that identify a mark.
    """

    chart: Callable[[pd.DataFrame, str, Choices], Any]
    marks: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return self.marks

    def headings(self, name: str, choices: Choices) -> dict[str, tuple[str, bool]]:
        return {}

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        return self.chart(frame, name, choices)


@dataclass(frozen=True, kw_only=True)
class Table(Kind):
    """Numbers by columns, each with the format of Streamlit if it is not the usual one.

    `named` are columns whose values have words. A table that `has_texts`, by a column seq, links to
    the one that is selected.
    """

    columns: Sequence[str] | Mapping[str, str | None]
    named: tuple[str, ...] = ()
    has_texts: bool = False

    def show(
        self, view: "View", figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        given = self.columns if isinstance(self.columns, Mapping) else dict.fromkeys(self.columns)
        frame = in_type_order(frame) if "token_type" in given else frame
        for column in self.named:
            frame, _ = named(frame, column, None)
        listed = {"height": 248, "on_select": "rerun", "selection_mode": "single-row"}
        event = view.table(
            figure.words(choices),
            frame,
            {name: form for name, form in given.items() if name in frame},
            **said,
            **figure.options(view.key, frame, choices, said),
            options=listed if self.has_texts else None,
        )
        for row in event["selection"]["rows"] if self.has_texts else ():
            view.draw(link_to_sequence, frame["seq"].iloc[min(row, len(frame) - 1)])


@dataclass(frozen=True, kw_only=True)
class Facts(Kind):
    """Numbers of a single row side by side, large, under the titles of their columns."""

    formats: Mapping[str, str]

    def show(
        self, view: "View", figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        row = frame.iloc[0]
        known = {name: form for name, form in self.formats.items() if pd.notna(row.get(name))}
        with view.place("container", border=True):
            for place, (name, form) in zip(view.split(len(known)), known.items(), strict=True):
                with place:
                    label = optional_word(f"{figure.name}_{name}") or title(name)
                    view.write("metric", label, value=f"{row[name]:{form}}".replace("-", "−"))


@dataclass(frozen=True, kw_only=True)
class Drawn(Kind):
    """Content that a function records: texts, pictures, or all that no other kind can show."""

    record: Callable[["View", Figure, pd.DataFrame, Choices], None]

    def show(
        self, view: "View", figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        self.record(view, figure, frame, choices)


@dataclass(frozen=True, kw_only=True)
class Published(Kind):
    """Numbers that a paper printed, beside those of the file.

    Rows: `of` (display name), `number` (of `analysis.published.numbers`), `ours`, and `low` and
    `high` if known; `pages.kit.published_table.printed` returns them for numbers with keys. The
    word `title_NAME` is the title.
    """

    def show(
        self, view: "View", figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        ends = [frame[end] if end in frame else [None] * len(frame) for end in ENDS]
        rows = zip(frame["of"], frame["number"], frame["ours"], *ends, strict=True)
        show_published(view, figure.words(choices), *(Row(*row) for row in rows), **said)
