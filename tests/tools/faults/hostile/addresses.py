"""Addresses with values that do not exist: the page shows its default, without a traceback."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, cycle
from random import Random
from typing import Any

import pytest
from streamlit.runtime.state.query_params_proxy import QueryParamsProxy
from streamlit.testing.v1 import AppTest

from pages.ui.choices.address import Choice, FreeChoice
from pages.ui.choices.links import VIEWS
from pages.ui.contents import PAGES
from tests.tools.faults.hostile.opened import FAMILIES, SCRIPT, Pages
from tests.tools.faults.process import Wrong

Kind = Callable[[Random], str]
_VALUES = (
    *(
        "",
        " ",
        "x",
        "-1",
        "0",
        "1",
        "2",
        "9999999",
        "9" * 40,
        "1.5",
        "1e999",
        "NaN",
        "null",
        "True",
    ),
    *("0-0", "1-1", "9-9", "1-", "--", "[1]", "{}", "1,2", "%00", "\x00", "\ud7ff\u202e語", "😀"),
    *(SCRIPT, "**b** [x](javascript:alert(1)) $z$", "'; drop table stored.run; --", "\\"),
    *("../../etc/passwd", "/etc/passwd", "tiny-vit.duckdb", "a" * 5000, "(a|a)*$", "*", '"', "\n"),
)


@dataclass
class _Asked:
    """Recorded choices of a page: keys in the address, their options, and those of free text."""

    keys: dict[str, None] = field(default_factory=dict)
    options: dict[str, list[str]] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)


_Place = tuple[str, dict[str, str], str, _Asked]
"""A file, the section, one of its parameters, and what the section asks for."""


def kinds(pages: Pages) -> dict[str, Kind]:
    """Trials of every page: another of its parameters each time, on files of three models."""
    places: dict[str, Iterator[_Place]] = {}
    return {f"addresses of {page}": partial(_opened, page, pages, places) for page in PAGES}


def _opened(page: str, pages: Pages, places: dict[str, Iterator[_Place]], chance: Random) -> str:
    if page not in places:
        places[page] = cycle(_places(page, pages))
    file, view, key, asked = next(places[page])
    values = (*_VALUES, *chain.from_iterable(asked.options.values()))
    address: dict[str, Any] = {"file": file, **view, key: chance.choice(values)}
    others = [other for other in asked.keys if other not in address]
    for other in chance.sample(others, min(len(others), chance.randrange(3))):
        address[other] = chance.choice(values)
    if chance.random() < 0.1:
        address[key] = [address[key], chance.choice(values)]
    address.setdefault("lang", chance.choice(("en", "ja")))
    session = pages.open(page, **address)
    for parameter in asked.keys:
        _assert_in_step(session, parameter, asked, address)
    return "a page"


def _assert_in_step(session: AppTest, key: str, asked: _Asked, address: dict[str, Any]) -> None:
    """Raise `Wrong` if a value that is no choice stays in the address."""
    if key not in asked.options or key in asked.free or key not in session.session_state:
        return
    value, there = session.session_state[key], session.query_params.get(key, [])
    there = [there] if isinstance(there, str) else list(there)
    chosen = [str(option) for option in (value if isinstance(value, list) else [value])]
    if there and sorted(there) != sorted(chosen):
        raise Wrong(f"{address}: {key} is {chosen}, and the address says {there}")


def _places(page: str, pages: Pages) -> list[_Place]:
    """Every parameter of every section of a page on every file."""
    places: list[_Place] = []
    for family in FAMILIES:
        file = f"tiny-{family}.duckdb"
        for view in _views(page, pages, file):
            with _noting() as asked:
                pages.open(page, None, file=file, **view)
            places += [(file, view, key, asked) for key in asked.keys]
    Random(0).shuffle(places)
    return places


def _views(page: str, pages: Pages, file: str) -> list[dict[str, str]]:
    if page not in VIEWS:
        return [{}]
    with _noting() as asked:
        pages.open(page, file=file)
    return [{VIEWS[page]: view} for view in asked.options.get(VIEWS[page], [])] or [{}]


@contextmanager
def _noting() -> Iterator[_Asked]:
    """Record the parameters that a page reads from its address within the block."""
    asked = _Asked()
    get_all, of_choice = QueryParamsProxy.get_all, Choice.asked

    def noted(self: QueryParamsProxy, key: str) -> list[str]:
        asked.keys[key] = None
        return get_all(self, key)

    def chosen(self: Choice) -> list[str]:
        asked.options[self.key] = [str(option) for option in self.options][:200]
        if isinstance(self, FreeChoice):
            asked.free.add(self.key)
        return of_choice(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QueryParamsProxy, "get_all", noted)
        patch.setattr(Choice, "asked", chosen)
        yield asked
