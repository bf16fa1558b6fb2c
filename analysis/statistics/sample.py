"""Facts about parts of a corpus that a file leaves out: unusable rows, rows beyond limits."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from analysis.statistics.base.tables import Table

_SAMPLE, _LEAST = "sample", "least_count"
LEAST_COUNT = f"{_LEAST} pair_delta"
"""Name of the fact with the smallest count of a stored pair; absent if all are stored."""

_UNUSED = ("images", "masks", "blank_rows", "malformed_rows", "coreference", "padding_tokens")
_COUNT = re.compile(r"[1-9][0-9]{0,17}")


class Sample(NamedTuple):
    """Number of sequences with rows in a table, and of such sequences in the corpus."""

    kept: int
    of: int


def sample_facts(table: Table, sample: Sample) -> dict[str, str]:
    """Return the facts for `provenance` about a sampled table, by name."""
    return {f"{_SAMPLE} {table.name}": f"{sample.kept}/{sample.of}"}


def rarest_facts(table: Table, least: int) -> dict[str, str]:
    """Return the facts for `provenance` about a table without its rarest groups, by name."""
    return {f"{_LEAST} {table.name}": str(least)}


def is_whole(table: str) -> str:
    """Return SQL that is true if a file keeps the rows of all sequences."""
    return f"not exists (from provenance where name = '{_SAMPLE} {table}')"


def samples(facts: Mapping[str, str]) -> dict[str, Sample]:
    """Return the samples of a file by table name, from its facts."""
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
    """Return the smallest count of a stored pair, from the file's facts."""
    return int(facts.get(LEAST_COUNT, 1))
