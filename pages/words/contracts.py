"""The texts of contracts in both languages: English where a column is defined, Japanese here."""

import re
import tomllib
from functools import cache
from hashlib import sha256

from pages.words.say import CONTRACTS, language

_GRAIN = re.compile(r"one row per ([^:;()]+)(?:; (.+))?")


def translation(english: str) -> str:
    """Return a text of a contract in the reader's language.

    The grain of a declared table is a list of columns, each of which has a word, and a note.
    """
    if language() == "en" or digest(english) in japanese():
        return english if language() == "en" else japanese()[digest(english)]
    words, notes = parts_of(english)
    texts = [japanese().get(digest(part), part) for part in (*words, *notes)]
    if not words:
        return texts[0]
    note = "".join(f"（{text}）" for text in texts[len(words) :])
    return f"{'・'.join(texts[: len(words)])}ごとに1行{note}"


def parts_of(english: str) -> tuple[list[str], list[str]]:
    """Return the words for the columns of a grain, and its note; of other texts, no words and the
    text."""
    if (grain := _GRAIN.fullmatch(english)) is None:
        return [], [english]
    return re.split(", | and ", grain[1]), [grain[2]] if grain[2] else []


def digest(english: str) -> str:
    """Return eight hex digits of a text, behind which its Japanese is found.

    Another English text has other digits, and no Japanese until somebody writes it.
    """
    return sha256(english.encode()).hexdigest()[:8]


@cache
def japanese() -> dict[str, str]:
    """Return the Japanese texts by the digest of the English; before it stands any name."""
    rooms = tomllib.loads(CONTRACTS.read_text(encoding="utf-8")).values()
    return {name.rpartition("_")[2]: text for room in rooms for name, text in room.items()}
