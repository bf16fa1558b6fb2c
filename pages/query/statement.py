"""SQL of the reader as a choice in the address."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from pages.kit.address import FreeChoice

LONGEST = 20_000
"""Longest query, in letters."""
LONGEST_IN_LINK = 4_000
"""Longest query in an address, in letters after percent-encoding."""


@dataclass(frozen=True)
class Statement(FreeChoice):
    """SQL, written into the address unless it is too long for a link."""

    def parsed(self, names: Iterable[str]) -> str:
        return next(iter(names), self.default)[:LONGEST]

    def names(self, value: str) -> list[str]:
        return [value] if fits_into_a_link(value) else []


def fits_into_a_link(sql: str) -> bool:
    """Return True if the SQL is short enough for a link."""
    return len(quote(sql)) <= LONGEST_IN_LINK
