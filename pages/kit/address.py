"""Choices stored in the address bar under names that are the same in all languages.

Streamlit's own binding writes an option's label into the address. Labels are translated here, so
that such a link would open in one language only. This module writes the option's plain name
instead. All changes of a run are written together at its end: every action is one entry of the
browser's history.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import urlencode, urlsplit

import streamlit as st

from pages.kit.run import run, within_part

LONGEST_TEXT = 120
_SEEN = "choices in the address"
_UNWRITTEN = "choices that are to stand in the address"
_NAMED = "choices that the address always names"
_DROPPED = "what the address asks for and is not there"


@dataclass(frozen=True)
class Choice:
    """Parameter of the address, with its options and its default.

    A `named` choice is written into every address that has any other choice, even at its default.
    `moved` maps names in older addresses to present ones.
    """

    key: str
    options: Sequence[Any]
    default: Any
    many: bool = False
    named: bool = False
    moved: Mapping[str, str] = field(default_factory=dict)

    def asked(self) -> list[str]:
        """Names in the address, with those that are no options replaced by their successors."""
        known = {str(option) for option in self.options}
        return [name if name in known else self.moved.get(name, name) for name in asked(self.key)]

    def parsed(self, names: Iterable[str]) -> Any:
        """Options of the given names; the default if none of them is an option."""
        by_name = {str(option): option for option in self.options}
        chosen = [by_name[name] for name in names if name in by_name]
        if not chosen:
            return self.default
        return chosen if self.many else chosen[0]

    def allowed(self, value: Any) -> bool:
        """Return True if a value is an option, or a list of options."""
        values = value if self.many and isinstance(value, list) else [value]
        return all(option in self.options for option in values)

    def names(self, value: Any) -> list[str]:
        """Names written into the address for a value."""
        return [str(option) for option in value] if self.many else [str(value)]


@dataclass(frozen=True)
class FreeChoice(Choice):
    """Parameter of the address that may be any text of at most `longest` characters."""

    options: Sequence[Any] = ()
    default: str = ""
    longest: int = LONGEST_TEXT

    def parsed(self, names: Iterable[str]) -> str:
        return next(iter(names), self.default)[: self.longest]

    def names(self, value: str) -> list[str]:
        return [value[: self.longest]]

    def allowed(self, value: Any) -> bool:
        return isinstance(value, str)


@dataclass(frozen=True)
class _Seen:
    """State of a choice after the last run: its value, its names in the address, and the page."""

    value: Any
    names: list[str]
    page: str


def draw(choice: Choice, widget: Callable[[], Any]) -> Any:
    """Draw a widget that has the choice's key; return the value, which it shows."""
    value = chosen(choice)
    widget()
    return value


def chosen(choice: Choice) -> Any:
    """Value of a choice, which its widget is to show; written into the address.

    The address wins if it was changed by a link, by hand or by Back. The widget wins if it was
    used. A page switch that drops the parameter keeps a chosen value.
    """
    seen: dict[str, _Seen] = st.session_state.setdefault(_SEEN, {})
    value = _value(choice, seen.get(choice.key))
    st.session_state[choice.key] = value
    names, written = choice.names(value), choice.asked()
    if value == choice.default and written != names and not (choice.named and written):
        names = []  # where a link names the default, it stays
    if names != written:
        write(choice.key, names)
    if choice.named:
        always_name(choice.key, choice.names(value))
    seen[choice.key] = _Seen(value, names, _page())
    return value


def choose(key: str, value: object) -> None:
    """Set a choice from a callback, before its picker is drawn."""
    st.session_state[key] = value


def value_of(choice: Choice) -> Any:
    """Value of a choice whose widget is drawn later in this run."""
    seen: dict[str, _Seen] = st.session_state.get(_SEEN, {})
    return _value(choice, seen.get(choice.key))


def _value(choice: Choice, seen: _Seen | None) -> Any:
    """Value that the widget shows next; charts give numbers beside words as text."""
    names = choice.asked()
    drawn = st.session_state.get(choice.key)
    used = drawn is not None and (seen is None or drawn != seen.value)
    switched = seen is not None and (drawn is None or seen.page != _page())
    if used:
        value = drawn
    elif seen is not None and switched and not names:
        value = seen.value if seen.names else choice.default
    elif seen is not None and names == seen.names:
        value = seen.value
    else:
        value = choice.parsed(names)
        if names and value == choice.default and not {*names} & {*choice.names(value)}:
            st.session_state.setdefault(_DROPPED, {})[choice.key] = names
    return value if choice.allowed(value) else choice.parsed([str(value)])


def dropped() -> dict[str, list[str]]:
    """Return and clear the names in a link that are no options, by parameter."""
    return st.session_state.pop(_DROPPED, {})


def forget(key: str) -> None:
    """Reset a choice to the address, as if the reader had never made it here."""
    st.session_state.get(_SEEN, {}).pop(key, None)
    st.session_state.pop(key, None)


def asked(key: str) -> list[str]:
    """Names of a parameter in the address, or those to be written at the end of the run."""
    unwritten = st.session_state.get(_UNWRITTEN, {})
    return unwritten[key] if key in unwritten else st.query_params.get_all(key)


def always_name(key: str, names: Sequence[str]) -> None:
    """Add a parameter to every address with a choice, so that links do not depend on defaults."""
    st.session_state.setdefault(_NAMED, {})[key] = list(names)


def named(key: str) -> list[str]:
    """Names of a parameter in a complete address, defaults included."""
    return st.session_state.get(_NAMED, {}).get(key) or asked(key)


def write(key: str, names: Sequence[str]) -> None:
    """Write a parameter into the address, when the run ends; remove it if there are no names."""
    st.session_state.setdefault(_UNWRITTEN, {})[key] = list(names)
    if not run().is_one_entry:
        _write_all()


@contextmanager
def one_entry() -> Iterator[None]:
    """Write all choices of the run, of which the block is a part or all, as one entry."""
    if run().is_one_entry:
        yield
        return
    st.session_state[_NAMED] = {}
    with within_part(is_one_entry=True):
        yield
        _write_all()


def stop() -> NoReturn:
    """End the page here, with the choices so far in the address."""
    _write_all()
    st.stop()


def link_here() -> str:
    """Address of the page with all choices so far, to be shared."""
    query = urlencode(parameters(), doseq=True)
    return urlsplit(st.context.url or "")._replace(query=query).geturl()


def _write_all() -> None:
    if st.session_state.get(_UNWRITTEN):
        st.query_params.from_dict(parameters())
    st.session_state.pop(_UNWRITTEN, None)


def parameters() -> dict[str, list[str]]:
    """Parameters of the address, with those not yet written."""
    before = {key: st.query_params.get_all(key) for key in st.query_params}
    unwritten = st.session_state.get(_UNWRITTEN, {})
    now = before | st.session_state.get(_NAMED, {}) | unwritten
    return {key: names for key, names in now.items() if names}


def _page() -> str:
    return urlsplit(st.context.url or "").path
