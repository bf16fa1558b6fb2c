"""Findings for the overview on heads that attend alike."""

from collections.abc import Callable, Iterator

from analysis.statistics.heads import head_arrangement
from pages.head_map.apart import LEVEL, chance, nats
from pages.ui.finding import Finding, rows_of
from pages.ui.store.chosen import ask
from pages.ui.words.say import say


def _cohesion() -> Iterator[Finding]:
    """Compare distances within layers with those between layers, by a permutation test."""
    frame = ask(head_arrangement.cohesion)
    every = frame[frame["layer"].isna()]
    if every.empty:
        return
    row = every.iloc[0]
    alike = row["difference"] > 0 and row["p_value"] < LEVEL
    yield Finding(
        say("finding.label_cohesion"),
        say("finding.cohesion_number", **row[["within", "between"]].map(nats)),
        say(f"finding.cohesion_{'alike' if alike else 'unclear'}", p=chance(row["p_value"])),
        "layers",
        rows_of((say(f"finding.{name}"), row[name]) for name in ("within", "between")),
        format=".2f",
        known_by=say("finding.cohesion_known_by", p=chance(row["p_value"])),
    )


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {"layer_cohesion": _cohesion}
