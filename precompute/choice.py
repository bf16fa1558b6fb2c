"""Statistics of a run, from the words of `--statistics`."""

from collections.abc import Iterable, Sequence

from analysis.contracts import ALL, groups
from analysis.errors import UnknownName, UserError
from analysis.needs import Setting
from precompute.passes import STATISTICS

PROOFS = ("completeness",)
"""Statistics in every file, whatever the request."""


def chosen_statistics(words: Sequence[str] | None) -> tuple[str, ...]:
    """Return the chosen statistics and all that they need, in the order they run; None means all.

    A word is the name of a statistic or of a group; after `-` it takes away, from all if no other
    word adds. What needs a statistic that is taken away goes with it, or is refused if it is named.
    """
    words = words or [ALL]
    without = [word.removeprefix("-") for word in words if word.startswith("-")]
    if proofs := [name for name in without if name in PROOFS]:
        raise UserError(f"{proofs[0]} is in every file: leave -{proofs[0]} out.")
    taken = _members(without) - {*PROOFS}
    for name in named_statistics(words):
        if lacking := taken & _with_required([name]):
            raise UserError(
                f"--statistics {name} needs {min(lacking)}, which another name takes away: leave "
                "one of the two out."
            )
    added = _members([word for word in words if not word.startswith("-")] or [ALL])
    kept = [name for name in added if taken.isdisjoint(_with_required([name]))]
    if not kept:
        raise UserError(f"--statistics {','.join(words)} leaves nothing: take less away.")
    return in_order({*kept, *PROOFS})


def named_statistics(words: Sequence[str] | None) -> list[str]:
    """Return the statistics asked for by name: a run that cannot have one is refused."""
    return [word for word in words or () if word in STATISTICS]


def of_texts_run_again(names: Iterable[str]) -> tuple[str, ...]:
    """Return the statistics among some that need texts which are run again."""
    again = {name for name, table in STATISTICS.items() if Setting.RUN_AGAIN in table.depends_on}
    return tuple(name for name in names if not again.isdisjoint(_with_required([name])))


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return statistics and all that they need, in the order they run."""
    wanted = _with_required(names)
    return tuple(name for name in STATISTICS if name in wanted)


def _members(words: Iterable[str]) -> set[str]:
    """Return the statistics of names and groups."""
    known = groups() | {name: (name,) for name in STATISTICS}
    members: set[str] = set()
    for word in words:
        if word not in known:
            raise UnknownName("statistic or group", word, known)
        members.update(known[word])
    return members


def _with_required(names: Iterable[str]) -> set[str]:
    return {*names}.union(*(_with_required(STATISTICS[name].requires) for name in names))
