"""Scope of word look-up: the section and page drawn now, so that words have short names."""

from contextlib import AbstractContextManager
from typing import Any

from pages.kit.run import run, within_part
from pages.words.say import catalogue, say


def words_of(*names: str) -> AbstractContextManager[None]:
    """Look words up under these names while the block runs: a page, then a section of it."""
    return within_part(words=names)


def here() -> tuple[str, ...]:
    """Names under which words are looked up now."""
    return run().words


def key_of(name: str, *, shared: str = "") -> str | None:
    """Key of a word: of the section, or else of its page, or else of all pages.

    Args:
        shared: prefix of words of all pages that stand apart from the others.

    Returns:
        None if there is none.
    """
    place = run().words
    keys = [".".join((*place[:depth], name)) for depth in range(len(place), 0, -1)]
    keys.append(f"{shared or 'words'}.{name}")
    return next((key for key in keys if key in catalogue()), None)


def say_here(name: str, /, *, shared: str = "", **values: object) -> str:
    """Text of a word of the current section, in the reader's language.

    Raises:
        KeyError: neither the section nor its page has the word.
    """
    key = key_of(name, shared=shared)
    if key is None:
        raise KeyError(f"{'.'.join(run().words)} has no word {name}")
    return say(key, **values)


def optional_word(name: str, /, **values: Any) -> str | None:
    """Text of a word that not every section has; None if this one has not."""
    return say_here(name, **values) if key_of(name) else None
