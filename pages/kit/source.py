"""Sources of the choices made in a section."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.kit import address
from pages.kit.address import Choice


class SectionEnds(BaseException):
    """Ends a section early: it has nothing more to show, or an option that it needs is not there.

    As it ends a section like `st.stop` ends a page, it is no `Exception` either.
    """


class Reader:
    """The reader's choices, by widgets, clicks and the address."""

    def value(self, choice: Choice) -> Any:
        """Value of a choice."""
        return address.chosen(choice)

    def state(self, key: str) -> Any:
        """Value of a widget that is no choice of the address; None before it is drawn."""
        return st.session_state.get(key)

    def asked(self, key: str) -> list[str]:
        """Names of a parameter in the address."""
        return address.asked(key)


@dataclass(frozen=True)
class Otherwise(Reader):
    """The reader's choices but for some, which are made otherwise.

    Attributes:
        made: names of options, by the keys of choices.
    """

    made: Mapping[str, str]

    def value(self, choice: Choice) -> Any:
        """Value of a choice.

        Raises:
            SectionEnds: the option does not exist now, or is not the one that the reader chose.
        """
        if choice.key in self.made:
            wanted = self.made[choice.key]
            if wanted not in map(str, choice.options):
                raise SectionEnds
            return choice.parsed([wanted])
        chosen = st.session_state.get(choice.key)
        if chosen is None:
            return choice.parsed(choice.asked())
        if not choice.allowed(chosen):
            raise SectionEnds
        return chosen


@dataclass(frozen=True)
class Given(Reader):
    """Choices by the names of options, without a reader; by default what a page begins with."""

    names: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def value(self, choice: Choice) -> Any:
        return choice.parsed(self.names.get(choice.key, ()))

    def state(self, key: str) -> Any:
        return None

    def asked(self, key: str) -> list[str]:
        return list(self.names.get(key, ()))
