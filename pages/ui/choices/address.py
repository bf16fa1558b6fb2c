"""Choices that live in the address bar under names that no language changes.

Streamlit's own binding writes an option's label into the address, which is translated here: a link
would open in one language only. So the option's plain name is written instead. What a run changes
is written at its end and at once: every action is one entry of the browser's history.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import urlencode, urlsplit

import streamlit as st

from pages.ui.choices.otherwise import DrawingEnds, otherwise
from pages.ui.holding import holding

LONGEST_TEXT = 120
_SEEN = "choices in the address"
_UNWRITTEN = "choices that are to stand in the address"
_NAMED = "choices that the address always names"
_DROPPED = "what the address asks for and is not there"
_IS_COLLECTED: ContextVar[bool] = ContextVar("written at the end of the run", default=False)


@dataclass(frozen=True)
class Choice:
    """A parameter of the address: what it may be, and what it is unless it says otherwise.

    One that is `named` always stands in an address with any other choice, its default as well.
    `moved` says what names of older addresses are called now.
    """

    key: str
    options: Sequence[Any]
    default: Any
    many: bool = False
    named: bool = False
    moved: Mapping[str, str] = field(default_factory=dict)

    def asked(self) -> list[str]:
        """What the address says, under the names of today."""
        return [self.moved.get(name, name) for name in asked(self.key)]

    def parsed(self, names: Iterable[str]) -> Any:
        """The options of the given names; the default where none of them is an option."""
        by_name = {str(option): option for option in self.options}
        chosen = [by_name[name] for name in names if name in by_name]
        if not chosen:
            return self.default
        return chosen if self.many else chosen[0]

    def allowed(self, value: Any) -> bool:
        """Whether a value is, or is made of, options."""
        values = value if self.many and isinstance(value, list) else [value]
        return all(option in self.options for option in values)

    def names(self, value: Any) -> list[str]:
        """What stands in the address for a value."""
        return [str(option) for option in value] if self.many else [str(value)]


@dataclass(frozen=True)
class FreeChoice(Choice):
    """A parameter of the address that may be any text of at most `LONGEST_TEXT` characters."""

    options: Sequence[Any] = ()
    default: str = ""

    def parsed(self, names: Iterable[str]) -> str:
        return next(iter(names), self.default)[:LONGEST_TEXT]

    def allowed(self, value: Any) -> bool:
        return isinstance(value, str)


@dataclass(frozen=True)
class _Seen:
    """What the last run left behind: the value, its names in the address, and the page."""

    value: Any
    names: list[str]
    page: str


def draw(choice: Choice, widget: Callable[[], Any]) -> Any:
    """Draw a widget that has the choice's key, in step with the address.

    The address wins when it was changed by a link, by hand or by Back; the widget wins when it was
    used. A page switch that drops the parameter leaves a value that was chosen as it was. In a
    drawing that nobody sees there is no widget.
    """
    if (made := otherwise()) is not None:
        return _unseen(choice, made)
    seen: dict[str, _Seen] = st.session_state.setdefault(_SEEN, {})
    st.session_state[choice.key] = _value(choice, seen.get(choice.key))
    value = widget()
    if not choice.allowed(value) or (value is None and not choice.many):
        value = choice.default
    names, written = choice.names(value), choice.asked()
    if value == choice.default and written != names and not (choice.named and written):
        names = []  # where a link names the default, it stays
    if names != written:
        write(choice.key, names)
    if choice.named:
        always_name(choice.key, choice.names(value))
    seen[choice.key] = _Seen(value, names, _page())
    return value


def value_of(choice: Choice) -> Any:
    """What a choice is whose widget is drawn later in this run."""
    seen: dict[str, _Seen] = st.session_state.get(_SEEN, {})
    return _value(choice, seen.get(choice.key))


def _unseen(choice: Choice, made: Mapping[str, str]) -> Any:
    """What a choice is in a drawing that nobody sees.

    Raises:
        DrawingEnds: there is no such option now, or not the one that the reader chose.
    """
    if choice.key in made:
        wanted = made[choice.key]
        if wanted not in map(str, choice.options):
            raise DrawingEnds
        return choice.parsed([wanted])
    chosen = st.session_state.get(choice.key)
    if chosen is None:
        return choice.parsed(choice.asked())
    if not choice.allowed(chosen):
        raise DrawingEnds
    return chosen


def _value(choice: Choice, seen: _Seen | None) -> Any:
    """The value that the widget is to show."""
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
        if names and value == choice.default and choice.names(value) != names:
            st.session_state.setdefault(_DROPPED, {})[choice.key] = names
    return value if choice.allowed(value) else choice.default


def dropped() -> dict[str, list[str]]:
    """What a link asked for and is not there, by parameter; told once."""
    return st.session_state.pop(_DROPPED, {})


def forget(key: str) -> None:
    """Have a choice be what the address says, as if it had never been made here."""
    st.session_state.get(_SEEN, {}).pop(key, None)
    st.session_state.pop(key, None)


def asked(key: str) -> list[str]:
    """What the address says of a parameter, or will say at the end of the run."""
    unwritten = st.session_state.get(_UNWRITTEN, {})
    return unwritten[key] if key in unwritten else st.query_params.get_all(key)


def always_name(key: str, names: Sequence[str]) -> None:
    """Have a parameter in every address with a choice, so that a link needs no default."""
    st.session_state.setdefault(_NAMED, {})[key] = list(names)


def named(key: str) -> list[str]:
    """What an address that leaves nothing to chance says of a parameter."""
    return st.session_state.get(_NAMED, {}).get(key) or asked(key)


def write(key: str, names: Sequence[str]) -> None:
    """Put a parameter into the address; without names it is taken out."""
    if otherwise() is not None:
        return
    st.session_state.setdefault(_UNWRITTEN, {})[key] = list(names)
    if not _IS_COLLECTED.get():
        _write_all()


@contextmanager
def one_entry() -> Iterator[None]:
    """What the run chooses becomes one entry of the browser's history."""
    if _IS_COLLECTED.get():
        yield
        return
    st.session_state[_NAMED] = {}
    with holding(_IS_COLLECTED, True):
        yield
        _write_all()


def stop() -> NoReturn:
    """End the page here, with what was chosen in the address."""
    if otherwise() is not None:
        raise DrawingEnds
    _write_all()
    st.stop()


def link_here() -> str:
    """The address of the page with all that was chosen so far, for someone else to open."""
    query = urlencode(_with(st.session_state.get(_UNWRITTEN, {})), doseq=True)
    return urlsplit(st.context.url or "")._replace(query=query).geturl()


def _write_all() -> None:
    unwritten = st.session_state.pop(_UNWRITTEN, {})
    if unwritten:
        st.query_params.from_dict(_with(unwritten))


def _with(unwritten: dict[str, list[str]]) -> dict[str, list[str]]:
    """The parameters of the address with those that are not written yet."""
    before = {key: st.query_params.get_all(key) for key in st.query_params}
    now = before | st.session_state.get(_NAMED, {}) | unwritten
    return {key: names for key, names in now.items() if names}


def _page() -> str:
    return urlsplit(st.context.url or "").path
