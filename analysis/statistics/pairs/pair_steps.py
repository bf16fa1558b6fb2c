"""A column for each step of a layer."""

from analysis.scopes import EFFECTS, SHARED_EFFECTS
from analysis.statistics.columns import single
from analysis.statistics.table import Column


def of_steps(prefix: str, meaning: str, *, nullable: bool = False) -> tuple[Column, ...]:
    """Return a column for every effect, whose name replaces {step} in the meaning.

    A step that only layers of some orders have is NULL in all others.
    """
    return tuple(
        single(
            f"{prefix}{effect}",
            meaning.format(step=_step(effect)),
            nullable=nullable or effect not in SHARED_EFFECTS,
        )
        for effect in EFFECTS
    )


def _step(effect: str) -> str:
    return effect if effect in SHARED_EFFECTS else f"{effect}; NULL in a layer without this step"
