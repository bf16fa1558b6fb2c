"""No published number is mistyped, and none that belongs here is left out."""

import json
import re
from typing import Any

import pytest

from analysis.published import heads, numbers, pairs, positions
from analysis.scopes import EFFECTS, OF_RATIOS
from analysis.sources import PAPERS
from tests.precompute.corpora.tiny import shared_data

SOURCES = {
    "kobayashi-2020": "seed001-norm-ja",
    "kobayashi-2021": "kobayashi2021-notebook",
    "kobayashi-2024": "seed000-ff-ja",
    heads.PAPER: "clark2019-",
    positions.PAPER: "seed002-position-ja",
}
EVERY = (*numbers.NUMBERS, *heads.NUMBERS, *positions.NUMBERS)
NOT_SHOWN = re.compile(
    r"expansion rate.*|share of .*|ratio largest/smallest.*|shape of Figure.*|setting: .*"
    r"|heads|sequences|.*per sequence, .*|bounds stated in words|head [\"w].*"
    r"|number of (\w+ relations|.*sentences)"  # how large the treebank was
    r"|antecedent selection accuracy \(.*"  # table 2 with a digit more
    r"|probing classifier UAS, Attn \+ GloVe"  # the notebook's, in whole per cent as in table 3
)
STATISTICS = {"std": "standard deviation", "cv": "coefficient of variation"}
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
METHODS = {
    "nearest": "Nearest",
    "head_match": "Head match",
    "sieve": "Rule-based",
    "neural": "Neural coref",
    "head": "Head 5-4",
    "right_branching": "Right-branching",
    "distances_words": "Distances + GloVe",
    "random_init_words": "Random Init Attn + GloVe",
    "attention": "Attn",
    "attention_words": "Attn + GloVe",
    "structural_probe": "Structural probe (UUAS)",
}
PARTS = ("direction", "offset", "decimals")
WORDS = {"dependent_to_head": "dependent->head", "head_to_dependent": "head->dependent"}


def quantity_of(number: Any) -> str:
    """The quantity in the words of the collection."""
    if number.paper == positions.PAPER:
        return of_positions(number)
    return of_heads(number) if number.paper == heads.PAPER else of_norms(number)


def of_norms(number: numbers.Published) -> str:
    if number.quantity in ("value_norm", "input_norm"):
        symbol = "f(x)" if number.quantity == "value_norm" else "x"
        which = PLACES_OF_NORMS[number.quantity, number.layer, number.head]
        return f"||{symbol}|| {STATISTICS.get(number.statistic, number.statistic)}, {which}"
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


def of_heads(number: heads.PublishedHead) -> str:
    if number.quantity == "dependency_accuracy":
        return f"head accuracy, relation {number.relation}"
    if number.quantity == "dependency_baseline":
        return f"best fixed-offset baseline, relation {number.relation}"
    if number.quantity == "coreference_accuracy":
        method = METHODS[number.method]
        return f"antecedent selection accuracy, {method}, {number.mention_type}"
    if number.quantity == "parser_accuracy":
        return f"probing classifier UAS, {METHODS[number.method]}"
    if number.statistic == "n":
        return f"number of heads with >50% attention on the {number.habit} token"
    return "entropy of attention from [CLS], average over heads"


def of_positions(number: Any) -> str:
    if number in positions.COMPONENTS:
        of = "cumulative PCA contribution of the position embedding"
        return f"{of}, first {number.component} components"
    if number is positions.PEAK:
        of = "frequency of the amplitude-spectrum peak of Q and K"
        return f"{of} (also in the position embedding)"
    if number in positions.OFFSETS:
        return "offset t of the peak of sum_j s_j xcov_j(t)"
    return "phase shift Delta of the peak of g(f, theta)"


@pytest.fixture(scope="module")
def collection() -> list[dict]:
    """Numbers of the papers in the collection, without the notebook's other models."""
    document = json.loads((shared_data() / "published_numbers.json").read_text())
    return [
        entry
        for entry in document["numbers"]
        if entry["source"].startswith(tuple(SOURCES.values()))
        and (entry.get("model") == "bert-base-uncased" or "kobayashi" not in entry["source"])
    ]


def entries_of(number: Any, collection: list[dict]) -> list[dict]:
    """The entries of one number; relations are written with a capital in the paper alone."""
    place = " ".join(map(str, number.place)).lower().removeprefix("own_")
    return [
        entry
        for entry in collection
        if entry["source"].startswith(SOURCES[number.paper])
        and entry["quantity"].lower() == quantity_of(number).lower()
        and place in entry["where"].lower()
        and (entry.get("layer"), entry.get("head")) == (number.layer, number.head)
    ]


def mistyped(collection: list[dict]) -> list[Any]:
    """The numbers that are not as the collection prints them."""
    wrong = []
    for number in EVERY:
        direction = WORDS.get(getattr(number, "direction", ""))
        scale = 100 if number.percent else 1
        offset = getattr(number, "offset", None)
        ours = (number.printed, number.percent, direction, offset, number.decimals)
        values = [pytest.approx(number.value * scale), pytest.approx(number.tolerance * scale)]
        theirs = [
            ((entry["printed"], entry.get("unit") == "%", *map(entry.get, PARTS)), entry)
            for entry in entries_of(number, collection)
        ]
        if [row for row, _ in theirs] != [ours] or values != [
            theirs[0][1][name] for name in ("value", "tolerance")
        ]:
            wrong.append(number)
    return wrong


@pytest.mark.shared_data
def test_every_number_is_the_printed_one(collection):
    assert not mistyped(collection)
    wrong = [entry | {"printed": "0.78"} if entry["id"] == 195 else entry for entry in collection]
    assert len(mistyped(wrong)) == 1, "this test could not have failed"


@pytest.mark.shared_data
def test_no_number_of_these_sources_is_left_out_but_those_named(collection):
    ours = {entry["id"] for number in EVERY for entry in entries_of(number, collection)}
    left = [entry for entry in collection if entry["id"] not in ours and "pairs" not in entry]
    assert not [name for entry in left if not NOT_SHOWN.fullmatch(name := entry["quantity"])]


@pytest.mark.shared_data
def test_pairs_thresholds_and_corpus_are_those_of_the_collection(collection):
    for word, ours in (("amplified", pairs.AMPLIFIED), ("attenuated", pairs.ATTENUATED)):
        assert ours == {
            entry["layer"]: tuple(
                tuple(token.strip() for token in pair.split("->")) for pair in entry["pairs"]
            )
            for entry in collection
            if word in entry["quantity"]
        }
    theirs = [entry["value"] for entry in collection if 'head "attends' in entry["quantity"]]
    assert sorted(heads.THRESHOLDS.values()) == sorted(theirs)
    setting = {entry["quantity"]: entry.get("value") for entry in collection}
    assert setting["sequences"] == numbers.N_SEQUENCES
    mean = setting["tokens per sequence, mean"]
    assert round(numbers.N_TOKENS / numbers.N_SEQUENCES, 2) == mean
    rate = setting["share of tokens replaced by [MASK]"] / 100
    assert rate == numbers.MASK_RATES["kobayashi-2024"]


def test_every_number_has_a_paper_and_names_that_the_tables_use():
    assert {number.paper for number in EVERY} == set(SOURCES) <= set(PAPERS)
    assert set(numbers.MASK_RATES) == {number.paper for number in numbers.NUMBERS}
    assert {number.scope for number in EVERY} - {""} <= set(OF_RATIOS)
    assert {number.effect for number in EVERY} - {""} <= set(EFFECTS)
    assert {number.experiment for number in heads.NUMBERS} <= set(numbers.EXPERIMENTS)
    assert {number.direction for number in heads.NUMBERS} == {"", *heads.DIRECTIONS.values()}
    assert positions.SHIFT.value == -1
