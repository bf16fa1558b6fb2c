"""A page as data: sections, what a reader may pick, figures, and what is found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.base.tables import Table
from analysis.statistics.question import PARAMETER, frame_of
from pages.charts.headline import joined
from pages.kit.address import choose
from pages.kit.head_choice import choose_head
from pages.kit.items import Kind as Widget
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store
from pages.words.scope import say_here

if TYPE_CHECKING:
    from pages.kit.kinds import Kind

Choices = Mapping[str, Any]
Answer = Callable[[Inquiry, Choices], pd.DataFrame]
Rows = str | Answer
"""SQL whose `$name`s are choices, or a function of the open file and the choices."""
Options = Sequence[Any] | Callable[[Inquiry, Choices], Sequence[Any] | Mapping[Any, str]]
"""Options, or a function that returns them, with their names if words do not name them."""
When = Mapping[str, Sequence[Any]]
"""Options by pick: something is there if each of these picks has one of its options."""
HEAD = "head"
"""Click that chooses the head of a mark, by its columns layer and head."""
Click = Literal["head"] | Mapping[str, str]
"""Effect of a click: columns of the mark by the picks that take their values."""


TEXTS_OF = """
    select seq, n_tokens, text from sequence where list_contains($sequences, seq) order by seq"""
"""Texts of the sequences that are chosen."""
_TOKENS = """
    select pos, token_id, token, token_type, segment from token where seq = $seq order by pos"""


def rows_of(rows: Rows, inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Ask the open file for rows."""
    if not isinstance(rows, str):
        return rows(inquiry, choices)
    values = {name: choices.get(name) for name in PARAMETER.findall(rows)}
    return inquiry.ask(query, sql=rows, values=values)


def tokens_of(inquiry: Inquiry, seq: int) -> pd.DataFrame:
    """Every token of a sequence in reading order: pos, token_id, token, token_type, segment."""
    return rows_of(_TOKENS, inquiry, {"seq": seq})


def one_row(*_: object) -> pd.DataFrame:
    """Rows of a figure that asks for its own."""
    return pd.DataFrame({"row": [1]})


def query(store: DuckDBPyConnection, *, sql: str, values: Choices) -> pd.DataFrame:
    """Rows of a query, with the values of its `$name`s."""
    return frame_of(store, sql, values)


def once(*names: str) -> Callable[[Answer], Answer]:
    """Decorate a function of a file and choices that is asked several times while a section runs.

    Args:
        names: of the choices that it depends on.
    """

    def decorate(function: Answer) -> Answer:
        @wraps(function)
        def answer(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
            kept = vars(inquiry).setdefault("kept", {})
            key = function, *(choices.get(name) for name in names)
            if key not in kept:
                kept[key] = function(inquiry, choices)
            return kept[key]

        return answer

    return decorate


def of_head(choices: Choices) -> dict[str, int]:
    """Layer and head that are chosen."""
    return {name: choices[name] for name in ("layer", HEAD)}


def holds(when: When, choices: Choices) -> bool:
    """Return True if every pick has one of the options that are named."""
    return all(choices.get(name) in options for name, options in when.items())


@dataclass(frozen=True)
class Pick:
    """A choice of the reader.

    Words: `NAME` is its label, `NAME_help` explains it, `NAME_OPTION` is an option; without these,
    an option has the name of a value of the column `of`. `kind` is a widget; `head` is the head
    that all pages share, which adds its `layer` and `head` to the choices, and whose default is a
    pair of them; with a word `head_best`, "best" stands for that. A `number` has the least and the
    largest as its options, a `weighing` none, and a `text` neither: while it is empty, it is its
    default. A function as `kind` records what it asks for, and returns the choices that it adds.
    What `is_rare` is folded away.
    """

    name: str
    options: Options = ()
    default: Any = None  # the first option; or a function of the file and the choices
    kind: Widget | Literal["head", "weighing"] | Callable[..., dict[str, Any]] | None = None
    when: When = field(default_factory=dict)
    of: str | None = None
    format: Callable[[Any], str] | None = None
    most: int | None = None
    is_rare: bool = False


@dataclass(frozen=True)
class Figure:
    """A question with a chart of rows.

    Words: `NAME` is the question, `NAME_caption` the caption, `NAME_axis` the title of its values
    in place of that of their column. `NAME_nothing` is said if there are no rows; without it the
    figure is left out. The words of a figure may name choices: `{type}` is the display name.

    `word` replaces the name in words that depend on choices: its `{name}`s are options. `picks`
    stand above the chart. A `click` also chooses the options `clicked`, by pick. `half` figures in
    a row share it, two by two. `captions` returns the names of the words that make the caption, if
    it is not one alone. `notes` are words of the explanation.
    """

    name: str
    rows: Rows
    chart: "Kind"
    when: When = field(default_factory=dict)
    picks: tuple[Pick, ...] = ()
    click: Click | None = None
    clicked: Mapping[str, Any] = field(default_factory=dict)
    word: str = ""
    half: bool = False
    captions: Callable[[pd.DataFrame, Choices], Sequence[str]] | None = None
    notes: tuple[str, ...] = ()

    def words(self, choices: Choices) -> str:
        """Name of its words for some choices."""
        return self.word.format_map(choices) if self.word else self.name

    def options(
        self, key: Callable[[str], str], frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> dict[str, Any]:
        """State, click and caption, as arguments of `View.figure` and `View.table`.

        Args:
            key: of a choice in the address, by the name of its pick.
        """
        words = self.captions and self.captions(frame, choices)
        return {
            "state": tuple(map(str, choices.values())) if self.click else "",
            "click": self._follow(key),
            "caption": None if words is None else joined(say_here(word, **said) for word in words),
        }

    def _follow(self, key: Callable[[str], str]) -> Callable[[Mapping[Any, Any]], None] | None:
        """Function of a mark that was clicked."""
        click = self.click
        if click is None:
            return None

        def chosen(mark: Mapping[Any, Any]) -> None:
            for pick, option in self.clicked.items():
                choose(key(pick), option)
            if click == HEAD:
                choose_head(int(mark["layer"]), int(mark["head"]))
                return
            for pick, column in click.items():
                choose(key(pick), mark[column])

        return chosen


@dataclass(frozen=True)
class Finding:
    """Rows name, value, low and high, of which `pages.kit.grammar` makes sentences.

    The first row of a sentence is the result, the others are what it is held against; a `level`
    stands in for them. Rows that differ in the column `sentence` make several sentences. `format`
    is that of values without a column `format`, and `least` a difference worth mentioning. The
    overview tells the sentences with the results `overview`, or else the first one.
    """

    rows: Rows
    format: str = ".0%"
    level: float | None = None
    least: float = 0.0
    overview: tuple[str, ...] | None = None


def _nothing_lacks(_: Inquiry) -> str:
    return ""


def _always(_: Store) -> bool:
    return True


@dataclass(frozen=True)
class Section:
    """One question of a page.

    `needs` are the tables that it requires; the documentation at its end covers them, and those of
    `also` that the file holds. `lacks` returns the reason why a file cannot have anything of it, or
    an empty string. The section is offered if `when` holds for the file. `links` lead to sections
    (`SECTION`, or `PAGE/SECTION`), by the words `to_SECTION`.
    """

    name: str
    needs: tuple[Table, ...]
    figures: tuple[Figure, ...]
    picks: tuple[Pick, ...] = ()
    finding: Finding | None = None
    also: tuple[Table, ...] = ()
    lacks: Callable[[Inquiry], str] = _nothing_lacks
    when: Callable[[Store], bool] = _always
    links: tuple[str, ...] = ()


def when(shown: When, *figures: Figure) -> tuple[Figure, ...]:
    """Figures that are shown under a condition."""
    return tuple(replace(figure, when={**figure.when, **shown}) for figure in figures)
