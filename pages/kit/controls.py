"""Recorder of items and of choices, with labels and help from the section's words."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import streamlit as st

from analysis.statistics.base.weighing import WEIGHINGS, WEIGHT
from pages.kit.address import LONGEST_TEXT, Choice, FreeChoice, choose
from pages.kit.items import Columns, Control, Drawn, Group, Item, Kind, Picked, Text
from pages.kit.source import Reader
from pages.words.columns import option_name, picker_title
from pages.words.lines import width_of
from pages.words.say import say
from pages.words.scope import key_of, optional_word, say_here

FEW, SOME = 6, 12
_FULL = 5  # pickers in a row
_SHORT, _EDGE = 30, 4  # letters of all options of a segmented picker; letters' width of an edge


class Controls:
    """Choices of a section, and places for what it shows; names start with a page's prefix.

    Attributes:
        items: what was recorded so far.
        picked: choices so far that the content depends on, by key.
    """

    def __init__(self, prefix: str, stem: str, choices: Reader) -> None:
        self.prefix, self.stem, self.choices = prefix, stem, choices
        toolbar = _row(f"toolbar_{stem}")
        self.items: list[Item] = [toolbar]
        self.picked: dict[str, Picked] = {}
        self._into = self.items
        self._row: Group | None = toolbar
        self._n_pickers = self._n_rows = 0

    def say(self, name: str, /, **values: Any) -> str:
        """Word of the section, or else of its page."""
        return say_here(name, **values)

    def key(self, name: str) -> str:
        """Key of a name in the address and of figures."""
        return f"{self.prefix}_{name}"

    def add(self, item: Item) -> None:
        """Record an item where the section is now."""
        self._into.append(item)

    def go_on_in(self, items: list[Item]) -> list[Item]:
        """Record into a list from now on; return the one that was recorded into before."""
        before, self._into = self._into, items
        return before

    def draw(self, content: Callable[..., object], *given: Any, **options: Any) -> None:
        """Add content that a function draws."""
        self.add(Drawn(lambda: content(*given, **options)))

    def write(self, kind: str, body: str, **options: Any) -> None:
        """Add a text by a function of Streamlit: `caption`, `markdown`, `html`, `info` and such."""
        self.add(Text(kind, body, options))

    def place(self, kind: str, *given: Any, **options: Any) -> "Place":
        """Add a container, to be filled now or later: `container`, `expander` or `form`."""
        group = Group(kind, given, options)
        self.add(group)
        return Place(self, group)

    def split(self, n: int | Sequence[int]) -> list["Place"]:
        """Add columns, of the given widths."""
        shares = [1] * n if isinstance(n, int) else n
        groups = [Group("container") for _ in shares]
        self.add(Columns(groups, shares))
        return [Place(self, group) for group in groups]

    def toolbar(self) -> "Place":
        """Row of pickers that is open now, for further widgets."""
        return Place(self, self._open_row())

    def row(self) -> None:
        """Start a new row for the pickers that follow."""
        self._row = None

    def _open_row(self) -> Group:
        if self._row is None:
            self._n_rows, self._n_pickers = self._n_rows + 1, 0
            self._row = _row(f"corner_{self.stem}_{self._n_rows}")
            self.add(self._row)
        return self._row

    def value(self, choice: Choice, control: Control) -> Any:
        """Value of a choice, after adding its widget to the row of pickers; if full, to a popover.

        A picker before the first chart stands in the toolbar, a later one in a row above the chart
        that follows it.
        """
        row = self._open_row()
        self._n_pickers += 1
        if self._n_pickers == _FULL + 1:
            row = self._row = self._more_of(row)
        row.items.insert(len(row.items) - _ends_with_more(row), control)
        return self.choices.value(choice)

    @contextmanager
    def more(self, title: str = "") -> Iterator[None]:
        """Record pickers that are rarely used, into the popover at the end of their row."""
        row, n_pickers = self._open_row(), self._n_pickers
        self._row, self._n_pickers = self._more_of(row, title), _FULL + 1
        yield
        self._row, self._n_pickers = row, n_pickers

    def _more_of(self, row: Group, title: str = "") -> Group:
        if not _ends_with_more(row):
            look = {"key": f"more_{self.stem}_{self._n_rows}"}
            row.items.append(Group("popover", (title or say("page.more"),), look))
        return cast(Group, row.items[-1])

    def pick(
        self,
        name: str,
        options: Sequence[Any] | Mapping[Any, str],
        *,
        default: Any = None,
        of: str | None = None,
        format: Callable[[Any], str] | None = None,
        kind: Kind | None = None,
        **values: Any,
    ) -> Any:
        """Let the reader pick one option, by a widget that fits their number.

        Args:
            options: with their names, or alone if `format` or the section's words name them.
            default: the first option if None.
            of: the column whose names the options are, such as scope, or the picker whose words
                this one has.
            values: arguments of the label and the help.
        """
        label = name if key_of(name) else of or name
        given = options.__getitem__ if isinstance(options, Mapping) else format
        called = given or (lambda option: option_name(of or name, name, option))
        labels, key = {option: called(option) for option in options}, self.key(name)
        help = optional_word(f"{name}_help", **values) or optional_word(f"{of}_help", **values)
        choice = Choice(key, list(labels), next(iter(labels)) if default is None else default)
        title = picker_title(label, **values)
        chosen = self.value(choice, Control(key, title, _kind(labels.values(), kind), labels, help))
        names = {str(option): label for option, label in labels.items()}
        self.know(key, Picked(of or name, title, names, str(chosen)))
        return chosen

    def know(self, key: str, picked: Picked) -> None:
        """Record a choice that later content depends on."""
        self.picked = {**self.picked, key: picked}

    def pick_many(
        self,
        name: str,
        options: Sequence[Any],
        *,
        default: Sequence[Any] = (),
        of: str | None = None,
        format: Callable[[Any], str] | None = None,
        limit: int | None = None,
        about: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> list[Any]:
        """Let the reader pick several options, at most `limit`.

        Args:
            of: the picker whose words this one has.
            about: further fields of `Choice`.
            values: arguments of the help.
        """
        label, help = say_here(of or name), optional_word(f"{of or name}_help", **values)
        labels, key = {option: (format or str)(option) for option in options}, self.key(name)
        choice = Choice(key, options, list(default), many=True, **(about or {}))
        return self.value(choice, Control(key, label, "many", labels, help, {"limit": limit}))

    def pick_weighing(self, *more: str) -> str:
        """Let the reader pick weights, norms or `more` to measure attention, for the whole page."""
        labels = {weighing: say(f"weighing.{weighing}") for weighing in (*WEIGHINGS, *more)}
        key, label, help = self.key("weighing"), say("weighing.label"), say("weighing.help")
        control = Control(key, label, _kind(labels.values(), "segmented"), labels, help)
        chosen = self.value(Choice(key, list(labels), WEIGHT), control)
        compared = {weighing: labels[weighing] for weighing in WEIGHINGS}
        self.know(key, Picked("weighing", label, compared, chosen))
        return chosen

    def number(self, name: str, low: int, high: int, default: int, **values: Any) -> int:
        """Let the reader enter a whole number from `low` to `high`; words as those of `pick`."""
        key, help = self.key(name), optional_word(f"{name}_help")
        settings = {"min_value": low, "max_value": high, "step": 1}
        control = Control(key, say_here(name, **values), "number", {}, help, settings)
        return self.value(Choice(key, range(low, high + 1), default), control)

    def text(self, name: str, *, hint: str | None = None, example: str | None = None) -> str:
        """Let the reader enter a line of text, with an example as placeholder.

        The result may be a stranger's: it can come from a link.

        Args:
            hint: the name of its help if that is not `NAME_help`.
            example: in place of the word `NAME_example`.
        """
        shown = (optional_word(f"{name}_example") or "") if example is None else example
        key, help = self.key(name), optional_word(hint or f"{name}_help")
        settings = {"max_chars": LONGEST_TEXT, "placeholder": shown or None}
        control = Control(key, say_here(name), "text", {}, help, settings)
        return self.value(FreeChoice(key), control)

    def button(self, label: str, to: Callable[..., None], *given: Any, **options: Any) -> None:
        """Add a button that calls `to` with the given values; options are those of `st.button`."""
        self.draw(st.button, label, on_click=to, args=given, **options)

    def to_section(self, stem: str, **values: Any) -> None:
        """Add a button to another section of the page that keeps the choices."""
        name = f"to_{stem}"
        key = self.key(name)
        self.button(say_here(name, **values), choose, self.key("view"), stem, key=key)


def _ends_with_more(row: Group) -> bool:
    last = row.items[-1] if row.items else None
    return isinstance(last, Group) and str(last.options.get("key")).startswith("more_")


def _row(key: str) -> Group:
    look = {"horizontal": True, "vertical_alignment": "bottom", "gap": "small", "key": key}
    return Group("container", options=look)


def _kind(labels: Collection[str], kind: Kind | None) -> Kind:
    """Widget that fits the number of options and their letters, unless it is a slider."""
    if kind == "slider" and len(labels) > 1:
        return kind
    if kind == "select" or sum(width_of(label) + _EDGE for label in labels) > _SHORT:
        return "select"
    if kind is not None:
        return kind
    return "segmented" if len(labels) < FEW else "pills" if len(labels) < SOME else "select"


class Place:
    """A group of a section, to record into; it may be filled after what follows it."""

    def __init__(self, section: Controls, group: Group) -> None:
        self._section, self._items = section, group.items

    def __enter__(self) -> None:
        self._before = self._section.go_on_in(self._items)

    def __exit__(self, *error: Any) -> None:
        self._section.go_on_in(self._before)
