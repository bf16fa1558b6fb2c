"""Visible words in English and Japanese, from the words.toml files of the pages."""

import re
import string
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

import streamlit as st

from pages.kit.address import Choice, draw

Language = Literal["en", "ja"]
LANGUAGES: tuple[Language, ...] = ("en", "ja")
PAGES = Path(__file__).parents[1]
CONTRACTS = Path(__file__).with_name("contracts.toml")
"""The Japanese of what contracts say."""
_NAMES = {"en": "English", "ja": "日本語"}
IMAGES = "images"
"""Subject of image files; the word `images.KEY` then replaces KEY."""
ADDED, TURNED, DISTANCE, PATCHES = "added", "turned", "distance", "patches"
"""The same of a model that turns its queries and keys, by places or by rows and columns of patches,
or has terms of distances in its scores, where others add positions to the input."""
_SUBJECTS = "what the open file is of"
_JAPANESE = "ぁ-ヿ㐀-鿿々"
_EDGE = "\ue000"  # of a value; no text has this letter
_SPACED = re.compile(
    rf"(?<=[{_JAPANESE}])(\**) (\**{_EDGE})(?=[{_JAPANESE}])"
    rf"|(?<=[{_JAPANESE}])({_EDGE}\**) (\**)(?=[{_JAPANESE}])"
)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=])")


def say(key: str, /, **values: object) -> str:
    """Text of a key in the reader's language, with values inserted as by `str.format`.

    If the catalogue has other words for image files, or for models with rotary positions, these are
    used for such files. Values are not escaped: pass text of unknown origin through `plain` first.

    Raises:
        KeyError: with the key, if the catalogue has none.
    """
    texts = catalogue()[key]
    for subject in st.session_state.get(_SUBJECTS, ()):
        texts = catalogue().get(f"{subject}.{key}", texts)
    return _filled(texts[language()], values)


class _Edged(string.Formatter):
    """Puts a mark before and behind every value."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return f"{_EDGE}{super().format_field(value, format_spec)}{_EDGE}"


def _filled(text: str, values: Mapping[str, object]) -> str:
    """Insert values into a text.

    Spaces that set off `[CLS]` from Japanese letters are left out if the value begins or ends with
    such a letter itself.
    """
    edged = _Edged().vformat(text, (), values)
    return _SPACED.sub(r"\1\2\3\4", edged).replace(_EDGE, "")


def speak_of(*subjects: str) -> None:
    """Choose the words for the kind of the open file; later kinds' words win.

    Words for texts and for added positions are the default.
    """
    st.session_state[_SUBJECTS] = subjects


def plain(text: object) -> str:
    """Escape a text so that markdown and HTML show it unchanged."""
    return _MARKDOWN.sub(r"\\\1", str(text)).replace("\n", " ")


def language() -> Language:
    """Language that the reader chose; the browser's by default."""
    asked = st.session_state.get("lang") or st.query_params.get("lang")
    return cast(Language, asked) if asked in LANGUAGES else _browser_language()


def language_picker() -> None:
    """Draw the language picker in the sidebar; the choice is part of the address."""
    choice = Choice("lang", LANGUAGES, _browser_language(), named=True)
    with st.sidebar:
        draw(
            choice,
            lambda: st.segmented_control(
                "Language / 言語",
                LANGUAGES,
                key="lang",
                required=True,
                format_func=lambda code: _NAMES[code],
            ),
        )


def _browser_language() -> Language:
    locale = st.context.locale or ""
    return "ja" if locale.lower().startswith("ja") else "en"


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """Texts by key and language, from the words.toml files of pages and of `ui`.

    Raises:
        ValueError: if a key is there twice or a text lacks a language.
    """
    by_key: dict[str, dict[str, str]] = {}
    others = ("entries.toml", "formulas.toml", CONTRACTS.name)
    for path in sorted(toml for toml in PAGES.rglob("*.toml") if toml.name not in others):
        file = f"{path.parent.name}/{path.name}"
        for key, texts in _entries("", tomllib.loads(path.read_text(encoding="utf-8"))):
            if key in by_key:
                raise ValueError(f"{file}: {key} is there twice")
            if set(texts) != set(LANGUAGES):
                raise ValueError(f"{file}: {key} must have exactly {', '.join(LANGUAGES)}")
            by_key[key] = texts
    return by_key


def _entries(prefix: str, node: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield dotted keys with their texts; a node with strings as values is an entry."""
    texts = {name: value for name, value in node.items() if isinstance(value, str)}
    if texts:
        yield prefix, texts
    for name, value in node.items():
        if isinstance(value, dict):
            yield from _entries(f"{prefix}.{name}" if prefix else name, value)
