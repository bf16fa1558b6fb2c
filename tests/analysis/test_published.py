"""Published numbers are as they were when each had been compared with its paper."""

from hashlib import sha256

from analysis.published import heads, numbers, pairs, positions
from analysis.scopes import EFFECTS, OF_RATIOS
from analysis.sources import PAPERS

EVERY = (*numbers.NUMBERS, *heads.NUMBERS, *positions.NUMBERS)
COMPARED = "f1407ba0d2646e37"
"""Whoever adds or changes a number compares it with the paper and writes the new digest here."""


def test_numbers_are_those_that_were_compared_under_names_that_tables_use():
    of_text = (numbers.N_SEQUENCES, numbers.N_TOKENS, numbers.MASK_RATES)
    compared = (EVERY, pairs.AMPLIFIED, pairs.ATTENUATED, sorted(heads.THRESHOLDS.items()), of_text)
    assert sha256(repr(compared).encode()).hexdigest()[:16] == COMPARED
    assert {number.paper for number in EVERY} <= {*PAPERS}
    assert {number.experiment for number in EVERY} <= {*numbers.EXPERIMENTS}
    assert {number.scope for number in EVERY} <= {"", *OF_RATIOS}
    assert {number.effect for number in EVERY} <= {"", *EFFECTS}
