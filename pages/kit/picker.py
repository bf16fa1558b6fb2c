"""Picker of a page, outside its sections; its value is part of the address."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pages.kit.address import Choice, draw
from pages.kit.items import Control, Kind
from pages.kit.widgets import widget

Option = TypeVar("Option")


def pick(
    key: str,
    label: str,
    options: Sequence[Option],
    *,
    default: Option,
    format: Callable[[Any], str],
    kind: Kind = "segmented",
    named: bool = True,
    moved: Mapping[str, str] | None = None,
) -> Option:
    """Let the reader pick an option; the address names `str(option)`, whatever its label.

    The label is hidden, except from screen readers.

    Args:
        named: whether every address with a choice names it, the default as well.
        moved: present options by their names in older addresses.
    """
    labels = {option: format(option) for option in options}
    control = Control(key, label, kind, labels, settings={"label_visibility": "collapsed"})
    choice = Choice(key, options, default, named=named, moved=moved or {})
    return draw(choice, lambda: widget(control))
