"""The texts of contracts in both languages: English where a column is defined, Japanese here."""

import tomllib
from functools import cache
from hashlib import sha256

from pages.words.say import CONTRACTS, language


def translation(english: str) -> str:
    """Return a text of a contract in the reader's language."""
    return english if language() == "en" else japanese().get(digest(english), english)


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
