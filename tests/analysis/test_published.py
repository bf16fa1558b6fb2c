"""Published numbers are as they were when each had been compared with its paper."""

from hashlib import sha256
from typing import Any

from analysis.published import heads, numbers, pairs, positions
from analysis.scopes import EFFECTS, OF_RATIOS
from analysis.sources import PAPERS

EVERY = (*numbers.NUMBERS, *heads.NUMBERS, *positions.NUMBERS)
COMPARED = "97344bee5e7f4728"
"""Whoever adds or changes a number compares it with the paper and writes the new digest here."""


def stated(number: numbers.Published) -> list[tuple[str, Any]]:
    """Return the fields of a number that are given, by name."""
    unsaid = (None, "", False)
    return sorted((name, value) for name, value in vars(number).items() if value not in unsaid)


def test_numbers_are_those_that_were_compared_under_names_that_tables_use():
    of_text = (numbers.N_SEQUENCES, numbers.N_TOKENS, numbers.MASK_RATES)
    compared = [*map(stated, EVERY), pairs.AMPLIFIED, pairs.ATTENUATED, of_text]
    digest = sha256(repr([*compared, sorted(heads.THRESHOLDS.items())]).encode()).hexdigest()
    assert digest[:16] == COMPARED
    assert {number.paper for number in EVERY} <= {*PAPERS}
    assert {number.experiment for number in EVERY} <= {*numbers.EXPERIMENTS}
    assert {number.scope for number in EVERY} <= {"", *OF_RATIOS}
    assert {number.effect for number in EVERY} <= {"", *EFFECTS}
