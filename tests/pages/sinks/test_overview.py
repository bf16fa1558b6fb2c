"""What the overview says of sinks is what the file says."""

import pytest

from pages.sinks.findings import _massive, _resting
from tests.pages.kit.after import said_in

LAYER = "update stored.sink set mean = {}, low = {}, high = {} where place = 'cls' and head is null"


def _set(quantity: str, mean: float) -> str:
    return LAYER.format(mean, mean - 0.01, mean + 0.01) + f" and quantity = '{quantity}'"


@pytest.mark.parametrize(
    ("norm", "expected"), [(0.04, "4% comes from it"), (0.4, "no less of what arrives")]
)
def test_a_sink_is_set_against_even_attention_and_what_arrives(norm, expected, after):
    after(
        _set("attention", 0.38),
        _set("even", 0.01),
        _set("norm_share", norm),
        "update stored.sink_rate set mean = 0.5 where layer is null",
    )
    [finding] = _resting()
    assert finding.number.startswith("38% → ")
    assert expected in finding.sentence
    assert "50% of all heads give it more than 30%" in finding.sentence
    assert (finding.rows["strength"] > 1).all()
    after(_set("attention", 0.01), _set("even", 0.01))
    [finding] = _resting()
    assert (finding.rows["strength"] < 1).all(), "even attention is no sink"


@pytest.mark.parametrize("massive", [0.0, 0.25])
def test_the_largest_coordinate_is_set_against_that_of_other_tokens(massive, after):
    ratio = "update stored.massive_activation set mean = {}, low = {}, high = {} "
    after(
        ratio.format(10, 9, 11) + "where quantity = 'ratio'",
        ratio.format(50, 49, 51) + "where quantity = 'ratio' and place = 'cls' and depth = 2",
        f"update stored.massive_activation set mean = {massive} where quantity = 'massive'",
    )
    [finding] = _massive()
    assert finding.number == "50 medians"
    assert "after layer 2, at 50 medians of the hidden states" in finding.sentence
    assert "other tokens has 10" in finding.sentence
    assert ("in 25% of texts" in finding.sentence) == (massive > 0)
    assert finding.strength > 1
    after(
        ratio.format(10, 9, 11) + "where quantity = 'ratio'",
        ratio.format(9, 8, 9.5) + "where quantity = 'ratio' and place = 'cls'",
    )
    assert said_in(_massive()) == "", "others stand out more"
    after("delete from stored.massive_activation where place = 'cls'")
    assert said_in(_massive()) == ""
