"""Published numbers are as they were compared with the papers, under names that tables use."""

from hashlib import sha256

from analysis.published import heads, numbers, pairs, positions
from analysis.scopes import EFFECTS, OF_RATIOS
from analysis.sources import PAPERS

EVERY = (*numbers.NUMBERS, *heads.NUMBERS, *positions.NUMBERS)
COMPARED = "f1407ba0d2646e37"
"""Digest of all numbers as they were when each had been compared with a paper's own.

Whoever adds or changes a number compares it with the paper and writes the new digest here.
"""


def test_numbers_are_those_that_were_compared_with_the_papers():
    of_text = (numbers.N_SEQUENCES, numbers.N_TOKENS, numbers.MASK_RATES)
    compared = (EVERY, pairs.AMPLIFIED, pairs.ATTENUATED, sorted(heads.THRESHOLDS.items()), of_text)
    assert sha256(repr(compared).encode()).hexdigest()[:16] == COMPARED


def test_every_number_has_a_paper_and_names_that_the_tables_use():
    papers = {"kobayashi-2020", "kobayashi-2021", "kobayashi-2024", heads.PAPER, positions.PAPER}
    assert {number.paper for number in EVERY} == papers <= set(PAPERS)
    assert set(numbers.MASK_RATES) == {number.paper for number in numbers.NUMBERS}
    assert {number.scope for number in EVERY} - {""} <= set(OF_RATIOS)
    assert {number.effect for number in EVERY} - {""} <= set(EFFECTS)
    assert {number.experiment for number in heads.NUMBERS} <= set(numbers.EXPERIMENTS)
    assert {number.direction for number in heads.NUMBERS} == {"", *heads.DIRECTIONS.values()}
    assert positions.SHIFT.value == -1
