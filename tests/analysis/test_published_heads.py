"""The printed numbers on heads are those of the collection, and none is left out unsaid."""

import json

import pytest

from analysis.published.heads import DIRECTIONS, NUMBERS, PAPER, THRESHOLDS, PublishedHead, numbers
from analysis.published.numbers import EXPERIMENTS
from analysis.sources import PAPERS
from tests.precompute.corpora.tiny import shared_data

SOURCE = "clark2019-"
NOT_SHOWN = (
    "number of ",  # how large the treebank was
    "share of words split",
    "(head of a coreferent mention -> head of an antecedent)",  # table 2 with a digit more
    "bounds stated in words",
    'head "attends',  # thresholds, see below
    "head with linguistic behaviour",  # heads of tables 1 and 2
    "probing classifier UAS, Attn + GloVe",  # the notebook's, in whole per cent as in table 3
)
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
WORDS = {"dependent_to_head": "dependent->head", "head_to_dependent": "head->dependent"}


@pytest.fixture(scope="module")
def collection() -> list[dict]:
    document = json.loads((shared_data() / "published_numbers.json").read_text())
    return [entry for entry in document["numbers"] if entry["source"].startswith(SOURCE)]


def quantity_of(number: PublishedHead) -> str:
    """The quantity in the words of the collection."""
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


def place(number: PublishedHead) -> str:
    kind, name = number.place
    return f"{'table' if kind == 'own_table' else kind} {name}"


def entries_of(number: PublishedHead, collection: list[dict]) -> list[dict]:
    """The entries of one number; relations are written with a capital in the paper alone."""
    return [
        entry
        for entry in collection
        if entry["quantity"].lower() == quantity_of(number).lower()
        and entry["where"].lower().startswith(place(number))
    ]


@pytest.mark.shared_data
def test_every_number_is_the_printed_one(collection):
    for number in NUMBERS:
        [theirs] = entries_of(number, collection)
        assert number.printed == theirs["printed"]
        scale = 100 if number.percent else 1
        assert number.percent == (theirs.get("unit") == "%")
        assert number.value * scale == pytest.approx(theirs["value"])
        assert number.tolerance * scale == pytest.approx(theirs["tolerance"])
        assert number.offset == theirs.get("offset")
        assert (number.layer, number.head) == (theirs.get("layer"), theirs.get("head"))
        assert WORDS.get(number.direction) == theirs.get("direction")


@pytest.mark.shared_data
def test_a_mistyped_number_would_be_seen(collection):
    wrong = [entry | {"printed": "34.4"} if entry["id"] == 1 else entry for entry in collection]
    with pytest.raises(AssertionError):
        test_every_number_is_the_printed_one(wrong)


@pytest.mark.shared_data
def test_no_number_is_left_out_but_those_named(collection):
    ours = {entry["id"] for number in NUMBERS for entry in entries_of(number, collection)}
    left = [entry["quantity"] for entry in collection if entry["id"] not in ours]
    assert left
    assert not [quantity for quantity in left if not any(name in quantity for name in NOT_SHOWN)]


@pytest.mark.shared_data
def test_thresholds_are_those_of_the_notebook(collection):
    theirs = [entry["value"] for entry in collection if 'head "attends' in entry["quantity"]]
    assert sorted(THRESHOLDS.values()) == sorted(theirs)


def test_every_number_is_of_the_paper_and_of_an_experiment():
    assert PAPER in PAPERS
    assert {number.paper for number in NUMBERS} == {PAPER}
    assert {number.experiment for number in NUMBERS} <= set(EXPERIMENTS)
    assert {number.direction for number in NUMBERS} == {"", *DIRECTIONS.values()}


def test_a_relation_has_an_accuracy_and_a_baseline():
    accuracies, baselines = (
        [(number.place, number.relation) for number in numbers(f"dependency_{name}")]
        for name in ("accuracy", "baseline")
    )
    assert accuracies == baselines
    [det] = numbers("dependency_accuracy", relation="det", place=("own_table", 1))
    assert (det.layer, det.head, det.value) == (8, 11, pytest.approx(0.943))
