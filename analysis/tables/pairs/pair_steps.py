"""A column for each step of a layer."""

from analysis.scopes import EFFECTS, ORDERS, SHARED_EFFECTS
from analysis.tables.columns import single
from analysis.tables.table import Column


def of_steps(prefix: str, meaning: str, *, nullable: bool = False) -> tuple[Column, ...]:
    """A column for every effect; {step} in its meaning is written as the scopes before and after.

    A step that only layers of one order have is NULL in all others.
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
    """Between which scopes an effect is, in every order that has it."""
    steps = [order.effects[effect] for order in ORDERS.values() if effect in order.effects]
    written = " or ".join(" → ".join(step) for step in steps)
    return written if effect in SHARED_EFFECTS else f"{written}; NULL in a layer without this step"
