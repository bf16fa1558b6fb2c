"""The printed numbers on positions are those of the collection, and none is left out."""

import json

import pytest

from analysis.published.positions import COMPONENTS, NUMBERS, OFFSETS, PAPER, PEAK, SHIFT
from analysis.sources import PAPERS
from tests.precompute.corpora.tiny import shared_data

SOURCE = "seed002-position-ja"


@pytest.fixture(scope="module")
def collection() -> list[dict]:
    document = json.loads((shared_data() / "published_numbers.json").read_text())
    return [entry for entry in document["numbers"] if entry["source"] == SOURCE]


def quantity_of(number) -> str:
    """The quantity in the words of the collection."""
    if number in COMPONENTS:
        return (
            "cumulative PCA contribution of the position embedding, "
            f"first {number.component} components"
        )
    if number is PEAK:
        return (
            "frequency of the amplitude-spectrum peak of Q and K (also in the position embedding)"
        )
    if number in OFFSETS:
        return "offset t of the peak of sum_j s_j xcov_j(t)"
    return "phase shift Delta of the peak of g(f, theta)"


@pytest.mark.shared_data
def test_every_number_is_the_printed_one(collection):
    for number in NUMBERS:
        place = (quantity_of(number), number.layer, number.head)
        [theirs] = [
            entry
            for entry in collection
            if (entry["quantity"], entry.get("layer"), entry.get("head")) == place
        ]
        assert number.printed == theirs["printed"]
        scale = 100 if number.percent else 1
        assert number.percent == (theirs.get("unit") == "%")
        assert number.value * scale == pytest.approx(theirs["value"])
        assert number.tolerance * scale == pytest.approx(theirs["tolerance"])
        assert " ".join(map(str, number.place)).lower() in theirs["where"].lower()


@pytest.mark.shared_data
def test_no_number_is_left_out_but_settings_and_bounds_in_words(collection):
    ours = {quantity_of(number) for number in NUMBERS}
    left = [entry["quantity"] for entry in collection if entry["quantity"] not in ours]
    assert left
    assert all(quantity.startswith("setting: ") or "in words" in quantity for quantity in left)


def test_every_number_is_of_the_paper():
    assert PAPER in PAPERS
    assert {number.paper for number in NUMBERS} == {PAPER}
    assert SHIFT.value == -1
