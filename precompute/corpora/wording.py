"""Names of corpus contents in messages, each short and on one line."""

import reprlib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

WIDTH = 60
_MOST = 8


def shown(value: object) -> str:
    """Return the value as a Python literal, cut to about sixty characters, on one line."""
    if isinstance(value, str):
        return repr(value if len(value) <= WIDTH else value[: WIDTH - 1] + "…")
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python refuses to write out integers of thousands of digits
        return f"a huge {type(value).__name__}"


def listed(names: Iterable[str]) -> str:
    """Return the first of several names in the form of `shown`, separated by commas."""
    first = [shown(name) for name in islice(names, _MOST + 1)]
    return ", ".join((*first[:_MOST], "…") if len(first) > _MOST else first)


def file_name(path: Path) -> str:
    """Return the file's name without its folders, escaped for terminals."""
    return _on_one_line(path.name)


def path_as_given(path: Path) -> str:
    """Return the whole path, so that a slip in it can be found; escaped likewise."""
    return _on_one_line(str(path))


def _on_one_line(name: str) -> str:
    """Return a name unchanged if it is printable; Python counts Japanese spaces as unprintable."""
    return name if name.replace("\u3000", "").isprintable() else repr(name)


_SHORT = reprlib.Repr()
_SHORT.maxlevel = 2
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 3
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 20
