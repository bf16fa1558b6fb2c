"""Findings on sinks in the overview agree with the file."""

import pytest

from pages.sinks.findings import _massive, _resting
from tests.pages.kit.after import said_in

LAYER = "update stored.sink set mean = {}, low = {}, high = {} where place = 'cls' and head is null"


def _set(quantity: str, mean: float) -> str:
    return LAYER.format(mean, mean - 0.01, mean + 0.01) + f" and quantity = '{quantity}'"


def test_a_sink_is_set_against_even_attention_and_what_arrives_over_all_layers(after):
    after(
        _set("attention", 0.38),
        _set("attention", 0.18) + " and layer = 1",
        _set("even", 0.01),
        _set("norm_share", 0.04),
    )
    [finding] = _resting()
    assert finding.number == "28% → 4%"
    assert "even attention would give it 1%" in finding.sentence
    assert "by norms, 4% comes from it" in finding.sentence
    row = finding.evidence.iloc[0]
    assert (row["low"], row["high"]) == pytest.approx((0.27, 0.29))
    assert finding.side == "above"
    after(_set("attention", 0.01), _set("even", 0.01))
    [finding] = _resting()
    assert finding.side == "unclear", "even attention is no sink"


@pytest.mark.parametrize("massive", [0.0, 0.25])
def test_the_largest_coordinate_is_set_against_that_of_other_tokens(massive, after):
    ratio = "update stored.massive_activation set mean = {}, low = {}, high = {} "
    after(
        ratio.format(10, 9, 11) + "where quantity = 'ratio'",
        ratio.format(50, 49, 51) + "where quantity = 'ratio' and place = 'cls' and depth = 2",
        f"update stored.massive_activation set mean = {massive} where quantity = 'massive'",
    )
    [finding] = _massive()
    assert finding.number == "50.0 medians"
    assert "peaks after layer 2, at 50.0 medians of the hidden states" in finding.sentence
    assert "other tokens has 10.0" in finding.sentence
    assert "after layer 2" in finding.label
    assert ("in 25% of texts" in finding.sentence) == (massive > 0)
    assert finding.strength > 1
    after(
        ratio.format(10, 9, 11) + "where quantity = 'ratio'",
        ratio.format(8, 7, 8.9) + "where quantity = 'ratio' and place = 'cls'",
    )
    assert said_in(_massive()) == "", "others clearly stand out more"
    after(
        ratio.format(10, 9, 11) + "where quantity = 'ratio'",
        ratio.format(9, 8, 9.5) + "where quantity = 'ratio' and place = 'cls'",
    )
    [finding] = _massive()
    assert finding.side == "unclear"
    after("delete from stored.massive_activation where place = 'cls'")
    assert said_in(_massive()) == ""
