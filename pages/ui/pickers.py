"""What a section lets its reader choose, by pickers that find their own words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from analysis.tables.norms.weighing import WEIGHINGS, WEIGHT
from pages.ui.choices.address import LONGEST_TEXT, Choice, FreeChoice
from pages.ui.choices.pick import Kind, choose, draw, pick, pick_many
from pages.ui.stage import Picked, stage
from pages.ui.words.columns import option_name, picker_title
from pages.ui.words.place import key_of, say_here, say_here_if_any
from pages.ui.words.say import say

FEW, SOME = 6, 12


@dataclass(frozen=True)
class Pickers:
    """The choices of a section. Names in the address and keys start with the prefix of its page."""

    prefix: str
    stem: str

    def say(self, name: str, /, **values: Any) -> str:
        """A word of the section, else of its page."""
        return say_here(name, **values)

    def key(self, name: str) -> str:
        """A name as it stands in the address and in the keys of figures."""
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
        """One of the options, drawn by the widget that has room for as many.

        Args:
            options: with their names, or alone where `format` or the section's words name them.
            default: the first option if None.
            of: the column whose names the options are, such as scope, or the picker whose words
                this one has.
            values: what the label and the help take.
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
        """Some of the options, at most as many as `limit`.

        Args:
            of: the picker whose words this one has.
        """
        label, help = say_here(of or name), say_here_if_any(f"{of or name}_help")
        chosen = {"default": default, "format": format, "help": help, "limit": limit}
        return pick_many(self.key(name), label, options, **chosen)

    def pick_weighing(self) -> str:
        """Whether attention is weighed by its weights or by the norms of what they bring: one
        choice for all sections of a page."""
        return pick(
            self.key("weighing"),
            say("weighing.label"),
            WEIGHINGS,
            default=WEIGHT,
            format=lambda weighing: say(f"weighing.{weighing}"),
            help=say("weighing.help"),
        )

    def to_section(self, stem: str, **values: Any) -> None:
        """A button to another section of the page, which goes on with the same choices."""
        name = f"to_{stem}"
        key = self.key(name)
        self.button(say_here(name, **values), choose, self.key("view"), stem, key=key)

    def button(self, label: str, to: Callable[..., None], *given: Any, **options: Any) -> None:
        """A button that makes a choice with what is given; options are those of `st.button`."""
        if not stage().is_unseen:
            st.button(label, on_click=to, args=given, **options)

    def number(self, name: str, low: int, high: int, default: int, **values: Any) -> int:
        """A whole number from `low` to `high`, to be typed; words as those of `pick`."""
        label, key = say_here(name, **values), self.key(name)
        help = say_here_if_any(f"{name}_help")
        choice = Choice(key, range(low, high + 1), default)
        return draw(choice, lambda: st.number_input(label, low, high, step=1, key=key, help=help))

    def text(self, name: str, *, hint: str | None = None, example: str | None = None) -> str:
        """A line of text, to be typed; an example stands in it while it is empty. What a stranger
        wrote in a link is among it.

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
        """The row that pickers stand in."""
        return stage().room()

    def row(self) -> None:
        """Have the pickers that come now stand in a row of their own, here."""
        stage().begin()
