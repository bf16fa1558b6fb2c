"""How messages name what stands in a corpus: whatever it holds, a message stays one short line."""

import reprlib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

WIDTH = 60
_MOST = 8


def shown(value: object) -> str:
    """The value as Python would write it, cut to about sixty characters, on one line."""
    if isinstance(value, str):
        return repr(value if len(value) <= WIDTH else value[: WIDTH - 1] + "…")
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python refuses to write out integers of thousands of digits
        return f"a huge {type(value).__name__}"


def listed(names: Iterable[str]) -> str:
    """The first names of several as `shown` would have each, with commas between."""
    first = [shown(name) for name in islice(names, _MOST + 1)]
    return ", ".join((*first[:_MOST], "…") if len(first) > _MOST else first)


def file_name(path: Path) -> str:
    """The file's name without its folders; escaped where a terminal could not show it."""
    return _on_one_line(path.name)


def path_as_given(path: Path) -> str:
    """The whole path, which is what a reader needs to find the slip in it; escaped likewise."""
    return _on_one_line(str(path))


def _on_one_line(name: str) -> str:
    """A name as it is if it can be shown; Python counts the blank of Japanese among what cannot."""
    return name if name.replace("\u3000", "").isprintable() else repr(name)


def _short() -> reprlib.Repr:
    short = reprlib.Repr()
    short.maxlevel = 2
    short.maxlist = short.maxtuple = short.maxdict = 3
    short.maxstring = short.maxlong = short.maxother = 20
    return short


_SHORT = _short()
