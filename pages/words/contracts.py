"""The texts of contracts in both languages: English where a column is defined, Japanese here."""

import re
import tomllib
from functools import cache
from hashlib import sha256

from pages.words.say import CONTRACTS, language

_GRAIN = re.compile(r"one row per (?P<words>[^:;()]+)(?:; (?P<note>.+))?")
_COLUMN = re.compile(r"(?P<meaning>.+); NULL (?P<null>.+)")


def translation(english: str) -> str:
    """Return a text of a contract in the reader's language.

    It is translated whole, or in the parts of `parts_of`.
    """
    if language() == "en":
        return english
    texts = {part: japanese().get(digest(part), part) for part in parts_of(english)}
    if english in texts:
        return texts[english]
    if column := _COLUMN.fullmatch(english):
        return f"{texts[column['meaning']]}。{texts[column['null']]}は NULL"
    *words, last = texts.values()
    note = f"（{last}）" if "; " in english else ""
    return f"{'・'.join(words if note else [*words, last])}ごとに1行{note}"


def parts_of(english: str) -> list[str]:
    """Return the parts of a text that have their own Japanese.

    They are a grain's words for columns, and its note; or a column's meaning, and that of NULL.
    Other texts, and those that have Japanese as a whole, are one part.
    """
    if digest(english) in japanese():
        return [english]
    if column := _COLUMN.fullmatch(english):
        return [column["meaning"], column["null"]]
    if grain := _GRAIN.fullmatch(english):
        return [*re.split(", | and ", grain["words"]), *filter(None, [grain["note"]])]
    return [english]


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
