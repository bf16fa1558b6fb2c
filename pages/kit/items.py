"""Items of a section: what it shows, in order, before anything is drawn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from pages.export.shown import Shown

if TYPE_CHECKING:
    from pages.kit.kinds import Plot

Kind = Literal["segmented", "pills", "select", "slider", "many", "number", "text", "sql"]
Follow = Callable[[Mapping[Any, Any]], object]
"""Effect of a click: makes choices from the fields of a mark or row."""


@dataclass(frozen=True)
class Control:
    """Widget of a choice.

    Attributes:
        key: of the choice.
        labels: display names by option; empty for numbers and texts.
        settings: further ones of the widget.
    """

    key: str
    label: str
    kind: Kind
    labels: Mapping[Any, str] = field(default_factory=dict)
    help: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Picked:
    """A choice that later content depends on.

    `column` is the column whose names the options are. `options` maps names in the address to
    display names; `chosen` is a name in the address.
    """

    column: str
    label: str
    options: Mapping[str, str]
    chosen: str


@dataclass(frozen=True)
class Figure:
    """Chart with its texts and data.

    Attributes:
        name: of the figure in its section, if it can be compared with others of its kind.
        follow: takes the mark that was clicked, before the section runs again; None ignores clicks.
        width: that of the page, or the chart's own.
        notes: explanations.
        picked: choices that it depends on, by key.
        kind: draws it again, from other rows, by its words and choices; None if nothing can.
    """

    shown: Shown
    name: str = ""
    follow: Follow | None = None
    width: Literal["stretch", "content"] = "stretch"
    notes: Sequence[str] = ()
    picked: Mapping[str, Picked] = field(default_factory=dict)
    kind: "Plot | None" = None
    words: str = ""
    choices: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Table with its texts.

    Attributes:
        full: its data, with the columns that are not shown.
        options: further ones of `st.dataframe`.
        follow: takes the row of `full` that was clicked; None ignores clicks.
    """

    shown: Shown
    full: pd.DataFrame
    options: Mapping[str, Any] = field(default_factory=dict)
    follow: Follow | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Markup:
    """Markup with its texts.

    Attributes:
        body: with all text from files and readers escaped; or a function that draws it, with links
            between its parts, and returns it.
    """

    shown: Shown
    body: str | Callable[[], str]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Text:
    """Text by a function of Streamlit, such as `caption`."""

    kind: str
    body: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Drawn:
    """Content that needs no frame: a function that draws it."""

    draw: Callable[[], object]


@dataclass(frozen=True)
class Group:
    """Items that stand together.

    Attributes:
        kind: a function of Streamlit that returns a container.
        items: filled while the section runs.
    """

    kind: str
    given: Sequence[Any] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    items: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Columns:
    """Groups side by side, and their shares of the width."""

    groups: Sequence[Group]
    shares: Sequence[float]


Item = Control | Figure | Table | Markup | Text | Drawn | Group | Columns


def every_item(items: Sequence[Item]) -> Iterator[Item]:
    """Yield all items, with those of groups, in order."""
    for item in items:
        yield item
        match item:
            case Group():
                yield from every_item(item.items)
            case Columns():
                yield from every_item(item.groups)
