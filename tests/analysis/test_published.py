"""No published number is mistyped, and none that belongs here is left out."""

import json
from collections.abc import Iterator

import pytest

from analysis.published.numbers import (
    MASK_RATES,
    N_SEQUENCES,
    N_TOKENS,
    NUMBERS,
    Published,
    numbers,
)
from analysis.published.pairs import AMPLIFIED, ATTENUATED
from analysis.scopes import EFFECTS, OF_RATIOS
from analysis.sources import PAPERS
from tests.precompute.corpora.tiny import shared_data

SOURCES = {
    "kobayashi-2020": "seed001-norm-ja",
    "kobayashi-2021": "kobayashi2021-notebook",
    "kobayashi-2024": "seed000-ff-ja",
}
NOT_SHOWN = (
    "expansion rate",
    "share of",
    "ratio largest/smallest singular value",
    "shape of Figure",
    "per sequence, ",
)
STATISTICS = {
    "mean": "mean",
    "std": "standard deviation",
    "cv": "coefficient of variation",
    "max": "max",
    "min": "min",
}
PLACES_OF_NORMS = {
    ("value_norm", 2, 4): "head with largest CV",
    ("value_norm", 2, 7): "head with smallest CV",
    ("value_norm", None, None): "all heads",
    ("input_norm", 12, None): "layer with largest CV",
    ("input_norm", 7, None): "layer with smallest CV",
    ("input_norm", None, None): "all layers",
}
KEYS = {"cls": "[CLS]", "sep": "[SEP]", "comma_period": "comma and period", "other": "other"}
SCOPE_NAMES = {
    "attn_w": "Attn-W",
    "attn_w_res": "AttnRes-W",
    "attn": "Attn-N",
    "attn_res": "AttnRes-N",
    "attn_res_ln": "AttnResLn-N",
}
TYPES = {"all": "Overall", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]", "other": "Normal"}
MODULES = {
    "ff": "before FF (AttnResLn) vs with FF (AttnResLnFf)",
    "ff_res": "before vs after the residual connection behind FF",
    "ff_ln": "before vs after the layer normalisation behind FF",
}


def quantity_of(number: Published) -> str:
    """The quantity in the words of the collection."""
    if number.quantity in ("value_norm", "input_norm"):
        symbol = "f(x)" if number.quantity == "value_norm" else "x"
        which = PLACES_OF_NORMS[number.quantity, number.layer, number.head]
        return f"||{symbol}|| {STATISTICS[number.statistic]}, {which}"
    if number.quantity == "correlation":
        of = "number of (query, key, head) triples"
        rho = "Spearman correlation of alpha and ||f(x)||"
        return f"{of if number.statistic == 'n' else rho}, key {KEYS[number.token_type]}"
    if number.quantity == "similarity":
        return f"similarity of mixing maps, {MODULES[number.effect]}"
    if number.quantity == "ratio_frequency":
        of = "all tokens" if number.special_tokens else "w/o special tokens"
        rank = "Spearman correlation of frequency rank (1 = most frequent) and mixing ratio"
        return f"{rank}, {SCOPE_NAMES[number.scope]}, {of}"
    if number.layer is None:
        return f"mixing ratio {number.statistic}, {SCOPE_NAMES[number.scope]}"
    return f"mixing ratio, {SCOPE_NAMES[number.scope]}, tokens: {TYPES[number.token_type]}"


@pytest.fixture(scope="module")
def collection() -> list[dict]:
    document = json.loads((shared_data() / "published_numbers.json").read_text())
    return [
        entry
        for entry in document["numbers"]
        if entry["source"] in SOURCES.values() and entry["model"] == "bert-base-uncased"
    ]


def entries_of(number: Published, collection: list[dict]) -> Iterator[dict]:
    for entry in collection:
        place = (entry["source"], entry["quantity"], entry.get("layer"), entry.get("head"))
        if place == (SOURCES[number.paper], quantity_of(number), number.layer, number.head):
            yield entry


@pytest.mark.shared_data
def test_every_number_is_the_printed_one(collection):
    for number in NUMBERS:
        [theirs] = entries_of(number, collection)
        assert number.printed == theirs["printed"]
        scale = 100 if number.percent else 1
        assert number.percent == (theirs.get("unit") == "%")
        assert number.value * scale == pytest.approx(theirs["value"])
        assert number.decimals == theirs["decimals"]
        assert number.tolerance * scale == pytest.approx(theirs["tolerance"])
        assert " ".join(map(str, number.place)) in theirs["where"].lower()


@pytest.mark.shared_data
def test_a_mistyped_number_would_be_seen(collection):
    with pytest.raises(AssertionError):
        test_every_number_is_the_printed_one(
            [entry | {"printed": "0.78"} if entry["id"] == 195 else entry for entry in collection]
        )


@pytest.mark.shared_data
def test_no_number_of_these_sources_is_left_out_but_those_named(collection):
    ours = {entry["id"] for number in NUMBERS for entry in entries_of(number, collection)}
    left = [entry for entry in collection if entry["id"] not in ours and "pairs" not in entry]
    setting = {"sequences", "tokens per sequence, mean", "heads"}
    quantities = {entry["quantity"] for entry in left} - setting
    assert not [
        quantity for quantity in quantities if not any(name in quantity for name in NOT_SHOWN)
    ]


@pytest.mark.shared_data
@pytest.mark.parametrize(("word", "ours"), [("amplified", AMPLIFIED), ("attenuated", ATTENUATED)])
def test_every_pair_is_the_printed_one(word, ours, collection):
    theirs = {
        entry["layer"]: tuple(
            tuple(token.strip() for token in pair.split("->")) for pair in entry["pairs"]
        )
        for entry in collection
        if word in entry["quantity"]
    }
    assert ours == theirs


@pytest.mark.shared_data
def test_the_corpus_is_the_one_that_the_paper_describes(collection):
    setting = {entry["quantity"]: entry.get("value") for entry in collection}
    assert setting["sequences"] == N_SEQUENCES
    mean = setting["tokens per sequence, mean"]
    assert round(N_TOKENS / N_SEQUENCES, 2) == mean
    [pairs] = numbers("correlation", statistic="n", token_type="cls")
    assert pairs.value == N_TOKENS * setting["heads"]
    assert setting["share of tokens replaced by [MASK]"] / 100 == MASK_RATES["kobayashi-2024"]


def test_every_number_has_a_paper_and_names_that_the_tables_use():
    assert {number.paper for number in NUMBERS} == set(MASK_RATES)
    assert set(MASK_RATES) <= set(PAPERS)
    assert {number.scope for number in NUMBERS} - {""} <= set(OF_RATIOS)
    assert {number.effect for number in NUMBERS} - {""} <= set(EFFECTS)
    assert all(len(pairs) <= 10 for table in (AMPLIFIED, ATTENUATED) for pairs in table.values())


@pytest.mark.parametrize(
    ("printed", "percent", "value", "tolerance"),
    [
        ("-0.34", False, -0.34, 0.005),
        ("17,443,296", False, 17443296, 0.5),
        ("65.7", True, 0.657, 5e-4),
    ],
)
def test_value_and_tolerance_follow_from_the_printed_form(printed, percent, value, tolerance):
    number = Published("p", ("table", 1), "q", "mean", printed, percent=percent)
    assert number.value == pytest.approx(value)
    assert number.tolerance == pytest.approx(tolerance)
