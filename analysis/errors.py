"""Errors that a reader of the dashboard or an operator of the precompute can put right.

The command line and the pages catch `UserError` and show its message; anything else is a fault of
ours and is left to crash with its traceback.
"""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_LISTED = 200
"""Largest number of known names that a message lists."""


class UserError(Exception):
    """An error whose message states the fault, the right input, and the remedy."""

    def __reduce__(self):
        """Pickle as the message alone: some kinds are built from other arguments."""
        return UserError, (str(self),)


class UnknownName(UserError):
    """A name was given that nothing here goes by."""

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        known = sorted(known)
        near = get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        if len(known) > _MOST_LISTED:
            super().__init__(f"No {kind} is called {name!r} among {len(known)} known ones.{hint}")
        else:
            super().__init__(f"No {kind} is called {name!r}.{hint} Known: {', '.join(known)}.")


class BadCorpus(UserError):
    """A corpus file, or one line of it, cannot be used."""

    def __init__(self, place: str, reason: str):
        super().__init__(f"{place}: {reason}")


class UnfitModel(UserError):
    """A model lacks a part that an analysis needs, or must not be loaded."""


class BrokenLaw(UserError):
    """A table holds rows that its own contract rules out."""

    def __init__(self, table: str, law: str, rows: int):
        super().__init__(
            f"{rows} row(s) of {table} break `{law}`. "
            "The numbers are unsound: delete the run's shards and run it again; "
            "if it happens again, the reading of the model or its weights are at fault."
        )
