"""Pickers of a section, with labels and help from the section's words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from analysis.statistics.norms.weighing import WEIGHINGS, WEIGHT
from pages.ui.choices.address import LONGEST_TEXT, Choice, FreeChoice
from pages.ui.choices.pick import Kind, choose, draw, pick, pick_many
from pages.ui.stage import Picked, stage
from pages.ui.words.columns import option_name, picker_title
from pages.ui.words.place import key_of, say_here, say_here_if_any
from pages.ui.words.say import say

FEW, SOME = 6, 12


@dataclass(frozen=True)
class Pickers:
    """Pickers of a section. Names in the address and keys start with the prefix of its page."""

    prefix: str
    stem: str

    def say(self, name: str, /, **values: Any) -> str:
        """Word of the section, or else of its page."""
        return say_here(name, **values)

    def key(self, name: str) -> str:
        """Key of a name in the address and of figures."""
        return f"{self.prefix}_{name}"

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
        room = "segmented" if len(options) < FEW else "pills" if len(options) < SOME else "select"
        label = name if key_of(name) else of or name
        given = options.__getitem__ if isinstance(options, Mapping) else format
        called = given or (lambda option: option_name(of or name, name, option))
        # while the section's words are at hand
        labels = {option: called(option) for option in options}
        title = picker_title(label, **values)
        chosen = pick(
            self.key(name),
            title,
            list(labels),
            default=next(iter(labels)) if default is None else default,
            format=labels.__getitem__,
            kind=kind or room,
            help=say_here_if_any(f"{name}_help", **values)
            or say_here_if_any(f"{of}_help", **values),
        )
        names = {str(option): label for option, label in labels.items()}
        stage().pick(self.key(name), Picked(of or name, title, names, str(chosen)))
        return chosen

    def pick_many(
        self,
        name: str,
        options: Sequence[Any],
        *,
        default: Sequence[Any] = (),
        of: str | None = None,
        format: Callable[[Any], str] | None = None,
        limit: int | None = None,
    ) -> list[Any]:
        """Let the reader pick several options, at most `limit`.

        Args:
            of: the picker whose words this one has.
        """
        label, help = say_here(of or name), say_here_if_any(f"{of or name}_help")
        chosen = {"default": default, "format": format, "help": help, "limit": limit}
        return pick_many(self.key(name), label, options, **chosen)

    def pick_weighing(self) -> str:
        """Let the reader pick weights or norms to measure attention, for the whole page."""
        return pick(
            self.key("weighing"),
            say("weighing.label"),
            WEIGHINGS,
            default=WEIGHT,
            format=lambda weighing: say(f"weighing.{weighing}"),
            help=say("weighing.help"),
        )

    def to_section(self, stem: str, **values: Any) -> None:
        """Draw a button to another section of the page that keeps the choices."""
        name = f"to_{stem}"
        key = self.key(name)
        self.button(say_here(name, **values), choose, self.key("view"), stem, key=key)

    def button(self, label: str, to: Callable[..., None], *given: Any, **options: Any) -> None:
        """Draw a button that calls `to` with the given values; options are those of `st.button`."""
        if not stage().is_unseen:
            st.button(label, on_click=to, args=given, **options)

    def number(self, name: str, low: int, high: int, default: int, **values: Any) -> int:
        """Let the reader enter a whole number from `low` to `high`; words as those of `pick`."""
        label, key = say_here(name, **values), self.key(name)
        help = say_here_if_any(f"{name}_help")
        choice = Choice(key, range(low, high + 1), default)
        return draw(choice, lambda: st.number_input(label, low, high, step=1, key=key, help=help))

    def text(self, name: str, *, hint: str | None = None, example: str | None = None) -> str:
        """Let the reader enter a line of text, with an example as placeholder.

        The result may be a stranger's: it can come from a link.

        Args:
            hint: the name of its help if that is not `NAME_help`.
            example: in place of the word `NAME_example`.
        """
        shown = (say_here_if_any(f"{name}_example") or "") if example is None else example
        help = say_here_if_any(hint or f"{name}_help")
        label, key = say_here(name), self.key(name)
        settings: dict[str, Any] = {"key": key, "help": help, "placeholder": shown or None}
        return draw(
            FreeChoice(key), lambda: st.text_input(label, max_chars=LONGEST_TEXT, **settings)
        )

    def toolbar(self) -> Any:
        """Row for pickers."""
        return stage().room()

    def row(self) -> None:
        """Start a new row for the pickers that follow."""
        stage().begin()
