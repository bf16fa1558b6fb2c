"""Parts of a corpus that a file leaves out: unusable rows, and rows without room."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from analysis.tables.table import Table

_SAMPLE, _LEAST = "sample", "least_count"
LEAST_COUNT = f"{_LEAST} pair_delta"
"""The fact that says how often a pair occurs at least that the file has; none if it has all."""

_UNUSED = ("images", "masks", "blank_rows", "malformed_rows", "padding_tokens")
_COUNT = re.compile(r"[1-9][0-9]{0,17}")


class Sample(NamedTuple):
    """Of how many sequences a table has its rows, and how many have such rows in the corpus."""

    kept: int
    of: int


def sample_facts(table: Table, sample: Sample) -> dict[str, str]:
    """What `provenance` says of a sample, by name."""
    return {f"{_SAMPLE} {table.name}": f"{sample.kept}/{sample.of}"}


def rarest_facts(table: Table, least: int) -> dict[str, str]:
    """What `provenance` says of a table whose rarest groups are left out, by name."""
    return {f"{_LEAST} {table.name}": str(least)}


def is_whole(table: str) -> str:
    """Whether a file keeps the rows of all sequences, as SQL."""
    return f"not exists (from provenance where name = '{_SAMPLE} {table}')"


def samples(facts: Mapping[str, str]) -> dict[str, Sample]:
    """The samples of a file by the names of their tables, from what it says of its run."""
    start = f"{_SAMPLE} "
    return {
        name.removeprefix(start): Sample(*map(int, value.split("/")))
        for name, value in facts.items()
        if name.startswith(start)
    }


def left_out(facts: Mapping[str, str]) -> dict[str, int]:
    """Return the counts of unusable parts of the corpus by kind, from the file's provenance."""
    counts = {kind: facts.get(f"corpus {kind}_left_out", "") for kind in _UNUSED}
    return {kind: int(count) for kind, count in counts.items() if _COUNT.fullmatch(count)}


def least_count(facts: Mapping[str, str]) -> int:
    """How often every pair that a file has occurs at least, from what it says of its run."""
    return int(facts.get(LEAST_COUNT, 1))
